"""A measure. It is counted for every judged trial; what it raises makes it undefined there."""

from cuecard.core.engine.trial_log import agent_turns
from cuecard.core.scoring.measures import OwnMeasure
from cuecard.core.verdicts import mean


def _words_per_reply(task, events, judgement):
    lengths = [len(turn.reply.text.split()) for turn in agent_turns(events)]
    return mean("words_per_reply", lengths, "the agent said nothing")


WORDS_PER_REPLY = OwnMeasure("Words per reply", _words_per_reply, share=False)
