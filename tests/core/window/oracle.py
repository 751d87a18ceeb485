"""Expands windows with Python's zoneinfo: an oracle for core/window that shares no code with it.

Reads one case a line: zone|run_start|length|days|excluded|intervals (seconds since the epoch,
weekdays 1 to 7, dates, HH:MM:SS-HH:MM:SS; lists with commas). Prints one line a case: "overlap", or
occurrences "start,end,day" separated by blanks.
"""
import datetime as dt
import sys
from zoneinfo import ZoneInfo

UTC = dt.timezone.utc
EPOCH = dt.datetime(1970, 1, 1, tzinfo=UTC)


def seconds(moment):
    return (moment - EPOCH) // dt.timedelta(seconds=1)


def first_moment(zone, civil):
    """Epoch second of a naive time; the transition itself where the time does not exist."""
    aware = civil.replace(tzinfo=zone, fold=0)
    at = seconds(aware.astimezone(UTC))
    if dt.datetime.fromtimestamp(at, zone).replace(tzinfo=None) == civil:
        return at
    # In a gap: the transition is the first second whose civil time is past the one wanted.
    low, high = at - 2 * 86400, at + 2 * 86400
    while high - low > 1:
        middle = (low + high) // 2
        if dt.datetime.fromtimestamp(middle, zone).replace(tzinfo=None) > civil:
            high = middle
        else:
            low = middle
    return high


def time_of_day(text):
    hour, minute, second = map(int, text.split(":"))
    return hour * 3600 + minute * 60 + second


def overlaps(days, intervals):
    """Counts every minute of the week; the generator uses whole minutes."""
    open_minutes = set()
    for day in days:
        for start, end in intervals:
            for minute in range(day * 1440 + start // 60, day * 1440 + end // 60):
                if minute % 10080 in open_minutes:
                    return True
                open_minutes.add(minute % 10080)
    return False


def expand(line):
    name, run_start, length, days, excluded, intervals = line.split("|")
    zone = ZoneInfo(name)
    run_start, run_end = int(run_start), int(run_start) + int(length)
    days = [int(d) - 1 for d in days.split(",")] if days else list(range(7))
    excluded = set(excluded.split(",")) if excluded else set()
    spans = []
    for text in intervals.split(","):
        start, end = map(time_of_day, text.split("-"))
        spans.append((start, end if end > start else end + 86400))
    if overlaps(days, spans):
        return "overlap"
    found = []
    day = dt.datetime.fromtimestamp(run_start, zone).date() - dt.timedelta(days=4)
    while seconds(dt.datetime(day.year, day.month, day.day, tzinfo=UTC)) < run_end + 4 * 86400:
        if day.weekday() in days and day.isoformat() not in excluded:
            midnight = dt.datetime(day.year, day.month, day.day)
            for start, end in spans:
                opens = max(first_moment(zone, midnight + dt.timedelta(seconds=start)), run_start)
                closes = first_moment(zone, midnight + dt.timedelta(seconds=end))
                if opens < closes and opens < run_end:
                    found.append((opens, closes, day.isoformat()))
        day += dt.timedelta(days=1)
    return " ".join(f"{a},{b},{d}" for a, b, d in sorted(found))


for case in sys.stdin:
    print(expand(case.rstrip("\n")))
