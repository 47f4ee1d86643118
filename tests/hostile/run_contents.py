"""What kill_storm and failing_calls hold against each other: the contents of a run folder without its times."""
import re


def strip_times(text):
    return re.sub(r'"[a-z_.]*seconds[a-z_]*":\s*"?[-+0-9.e]+"?', '"t":0', text)


def contents(folder):
    """What must be the same, by name."""
    found = {}
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        # Where a run was stopped decides which older checkpoint it keeps; the newest is what counts.
        if path.parent.name == "checkpoint" and (path.name == "latest.json" or path.suffix == ".safetensors" and
                                                 path != max(path.parent.glob("update-*.safetensors"))):
            continue
        if path.is_dir() or name.endswith(("report.html", ".lock", ".png", ".html")):
            continue
        if path.suffix in (".tmp",):
            found["LEFT OVER " + re.sub(r"\d+", "N", path.name)] = b""
        elif path.suffix == ".safetensors":
            data = path.read_bytes()
            size = int.from_bytes(data[:8], "little")
            found[name] = strip_times(data[8:8 + size].decode()).rstrip().encode() + data[8 + size:]
            if path.name == "model.safetensors":
                found[name] = data  # to the last byte
        elif path.suffix in (".jsonl", ".json", ".toml"):
            found[name] = strip_times(path.read_text()).encode()
            if path.name == "evaluations.jsonl":
                found[name] = b"\n".join(sorted(found[name].splitlines()))
    return found


def differences(want, got):
    answer = []
    for name in sorted(set(want) | set(got)):
        if name not in got: answer.append("missing " + name)
        elif name not in want: answer.append("unexpected " + name)
        elif want[name] != got[name]: answer.append("differs: " + name)
    return answer
