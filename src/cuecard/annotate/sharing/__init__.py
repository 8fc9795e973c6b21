"""Working apart: what one person did as a file, and such files brought together."""

from cuecard.annotate.sharing.framing import SUFFIX
from cuecard.annotate.sharing.lines import FORMAT, Header
from cuecard.annotate.sharing.merging import merge_files, merge_packs, speaks_for_others
from cuecard.annotate.sharing.reading import Pack, parse_pack, read_pack, read_packs
from cuecard.annotate.sharing.writing import (
    Packed,
    PackPreview,
    default_name,
    pack_bytes,
    preview_pack,
    write_pack,
)
from cuecard.store.shared import Arrived, LeftOut, MergeReport, Moved, Parcel

__all__ = [
    "FORMAT",
    "SUFFIX",
    "Arrived",
    "Header",
    "LeftOut",
    "MergeReport",
    "Moved",
    "Pack",
    "PackPreview",
    "Packed",
    "Parcel",
    "default_name",
    "merge_files",
    "merge_packs",
    "pack_bytes",
    "parse_pack",
    "preview_pack",
    "read_pack",
    "read_packs",
    "speaks_for_others",
    "write_pack",
]
