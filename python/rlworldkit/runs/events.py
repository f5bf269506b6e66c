"""TensorBoard's events as the records of its files. Whoever has torch waits for that to be imported along with this."""

import math
import struct
import time
from collections.abc import Mapping

from tensorboardX.proto.event_pb2 import Event, SessionLog
from tensorboardX.proto.summary_pb2 import Summary
from tensorboardX.record_writer import masked_crc32c
from tensorboardX.summary import scalar


def beginning(after: int) -> bytes:
    """The first records of a file, which hide what earlier sessions have after the step ``after``, unless that is 0."""
    found = _record(Event(wall_time=time.time(), file_version="brain.Event:2"))
    if after:
        restart = SessionLog(status=SessionLog.START)
        found += _record(Event(wall_time=time.time(), step=after + 1, session_log=restart))
    return found


def points(step: int, metrics: Mapping[str, float]) -> bytes:
    """A point of every curve that has a number, at this step."""
    values = [scalar(name, value).value[0] for name, value in metrics.items() if not math.isnan(value)]
    return _record(Event(wall_time=time.time(), step=step, summary=Summary(value=values)))


def _record(event: Event) -> bytes:
    """An event as it stands in a file: length, checksum of the length, event, checksum of the event."""
    content = event.SerializeToString()
    length = struct.pack("<Q", len(content))
    return length + _checksum(length) + content + _checksum(content)


def _checksum(content: bytes) -> bytes:
    return struct.pack("<I", masked_crc32c(content))
