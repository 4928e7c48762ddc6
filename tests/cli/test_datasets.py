"""The command ``datasets``."""

import json


def test_the_file_of_each(run, tmp_path, monkeypatch):
    monkeypatch.setenv("OTHERHALF_DATA", str(tmp_path))
    monkeypatch.setenv("OTHERHALF_CACHE", str(tmp_path / "cache"))
    (tmp_path / "cora.npz").write_bytes(b"")
    status, out, err = run("datasets", "--json")
    assert (status, err, out.count("\n")) == (0, "", 1)
    rows = {row["name"]: row for row in json.loads(out)["datasets"]}
    assert rows["cora"]["file"] == str(tmp_path / "cora.npz")
    assert rows["actor"]["file"] is None


def test_as_a_table(run):
    status, out, err = run("datasets")
    assert (status, err) == (0, "")
    assert all(name in out for name in ("cora", "squirrel_filtered", "csbm:nodes=1000"))
