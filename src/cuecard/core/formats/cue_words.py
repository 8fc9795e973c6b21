"""What kind of cue a trigger condition in plain words is."""

from __future__ import annotations

import re

from cuecard.core.tasks.models import CueKind

_START = re.compile(
    r"\b(?:conversation|dialogue|dialog|chat|session)\b[^.]{0,24}\b(?:begin|begins|began|start|starts|started|opens?)\b"
    r"|\b(?:begin|beginning|start|opening)\b[^.]{0,16}\b(?:conversation|dialogue|dialog|chat|session)\b"
    r"|对话(?:一?开始|刚开始|开启)|(?:开始|开启)对话|开场",
    re.IGNORECASE,
)
_OTHER_PART = re.compile(
    r"\b(?:assistant|agent|model|ai|bot)\b|助手|智能体|模型|客服", re.IGNORECASE
)
_ASKS = re.compile(
    r"\b(?:ask|asks|asked|asking|inquires?|inquiring|enquires?|probes?)\b"
    r"|询问|追问|提问|问到|问及|问起|问道|反问|主动问|问了|问用户|问我|发问|打听",
    re.IGNORECASE,
)
_COMPLETES = re.compile(
    r"\b(?:complet(?:e|es|ed|ing|ion)|finish(?:es|ed|ing)?|finali[sz](?:e|es|ed|ing)|conclud(?:e|es|ed)"
    r"|wraps? up|is done|has done|milestone|all (?:previous|prior|earlier|preceding|the above) stages)\b"
    r"|完成|做完|结束|筛完|查完|整理完|完毕|所有(?:前述|之前的?|前面的?)阶段",
    re.IGNORECASE,
)


def infer_kind(text: str) -> CueKind:
    """The kind of a cue from its words, English or Chinese; `mentions` when nothing else shows."""
    if _START.search(text) and not _OTHER_PART.search(text):
        return CueKind.START
    if _ASKS.search(text):
        return CueKind.ASKS
    if _COMPLETES.search(text):
        return CueKind.COMPLETES
    return CueKind.MENTIONS
