"""Encode TensorBoard events as records of its files; importing this imports torch, too, if torch is installed."""

import math
import struct
import time
from collections.abc import Mapping

from tensorboardX.proto.event_pb2 import Event, SessionLog
from tensorboardX.proto.summary_pb2 import Summary
from tensorboardX.record_writer import masked_crc32c
from tensorboardX.summary import scalar


def beginning(after: int) -> bytes:
    """First records of a file; unless ``after`` is 0, they hide the points of earlier sessions after that step."""
    found = _record(Event(wall_time=time.time(), file_version="brain.Event:2"))
    if after:
        restart = SessionLog(status=SessionLog.START)
        found += _record(Event(wall_time=time.time(), step=after + 1, session_log=restart))
    return found


def points(step: int, metrics: Mapping[str, float]) -> bytes:
    """Record with a point, at this step, of every metric that is not NaN."""
    values = [scalar(name, value).value[0] for name, value in metrics.items() if not math.isnan(value)]
    return _record(Event(wall_time=time.time(), step=step, summary=Summary(value=values)))


def _record(event: Event) -> bytes:
    """Frame an event as a record of a file: length, checksum of the length, event, checksum of the event."""
    content = event.SerializeToString()
    length = struct.pack("<Q", len(content))
    return length + _checksum(length) + content + _checksum(content)


def _checksum(content: bytes) -> bytes:
    return struct.pack("<I", masked_crc32c(content))
