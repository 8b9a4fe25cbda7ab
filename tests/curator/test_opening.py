"""`dpcurator.open`: what must be there, what is made when, and that nothing is mixed up on the way."""

from __future__ import annotations

import os
import shutil
import signal
import stat
import subprocess
import sys
import threading
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import duckdb
import pytest
from house import COUNT, ROWS, catalog, frame, opened

import dpcurator as dp
from dpcurator.catalog.load import load
from dpcurator.curator.opening import curator_of, key_of, ledger_of, refresh_all
from dpcurator.snapshot import store

TOML = """\
[curator]
protects = "people"
[ledger]
epsilon = 1
[tables.visits]
file = "visits.csv"
unit = "who"
max_rows = 2
[tables.visits.columns]
who = "text"
"""


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "curator.toml").write_text(TOML)
    (tmp_path / "visits.csv").write_text("who\na\nb\n")
    return tmp_path


def test_from_a_file_with_a_refresh_first(place, monkeypatch):
    with pytest.raises(dp.Misconfigured, match="refresh"):
        dp.open(place / "curator.toml")
    refresh_all(load(place / "curator.toml"))
    for source in (place / "curator.toml", str(place / "curator.toml")):
        assert dp.open(source).catalog.data_version == 1
    monkeypatch.chdir(place)
    assert dp.open("curator.toml").ask(COUNT, epsilon="0.5").spent == dp.open("curator.toml").budget().spent


def test_from_a_dict_and_frames(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    curator = dp.open(catalog(), visits=frame(ROWS))
    assert (tmp_path / ".dpcurator").is_dir()
    assert curator.catalog == dp.open(catalog(), directory=str(tmp_path)).catalog


@pytest.mark.parametrize(
    "given", [{"nowhere": {"a": [1]}}, {"visits": 5}, {"visits": {"who": ["a"]}}, {"visits": "x.csv"}]
)
def test_a_frame_that_does_not_fit_is_misconfigured_and_leaves_nothing_in_force(tmp_path, given):
    with pytest.raises(dp.Misconfigured):
        dp.open(catalog(), directory=tmp_path, **given)
    with pytest.raises(dp.Misconfigured):
        dp.open(catalog(), directory=tmp_path)


def test_opening_begins_no_ledger_and_the_first_question_does(tmp_path):
    """A refresh makes an empty file; what the budget is, is fixed by the first question."""
    curator = opened(tmp_path / "c")
    curator.quote(COUNT, epsilon=1)
    curator.menu(COUNT)
    assert curator.budget().remaining == 10
    with pytest.raises(dp.Refusal):
        curator.ask("SELECT who FROM visits", epsilon=1)
    assert curator.ledger.life() == "new"
    assert list(curator.ledger.events()) == []
    curator.ask(COUNT, epsilon=1)
    assert curator.ledger.life() == "open"


def test_a10_a_key_without_its_ledger_is_no_fresh_budget(place):
    refresh_all(load(place / "curator.toml"))
    dp.open(place / "curator.toml").ask(COUNT, epsilon=1)
    for file in (place / ".dpcurator").glob("ledger.db*"):
        file.unlink()
    for attempt in (lambda: dp.open(place / "curator.toml"), lambda: refresh_all(load(place / "curator.toml"))):
        with pytest.raises(dp.Misconfigured, match="its ledger is not") as told:
            attempt()
        assert "Restore the ledger" in told.value.cure
    (place / ".dpcurator" / "signing.key").unlink()  # the cure where no question was asked
    refresh_all(load(place / "curator.toml"))
    assert dp.open(place / "curator.toml").budget().spent == 0


def test_a10_a_ledger_with_questions_and_no_key_is_refused_and_an_empty_one_is_not(place):
    refresh_all(load(place / "curator.toml"))
    key = place / ".dpcurator" / "signing.key"
    key.unlink()
    refresh_all(load(place / "curator.toml"))
    dp.open(place / "curator.toml").ask(COUNT, epsilon="0.1")
    key.unlink()
    with pytest.raises(dp.Misconfigured, match="signing key is not"):
        refresh_all(load(place / "curator.toml"))


def test_a11_a_restored_ledger_gives_no_old_answers_for_new_data(place, tmp_path_factory):
    declaration, state, kept = load(place / "curator.toml"), place / ".dpcurator", tmp_path_factory.mktemp("backup")
    for _ in range(3):
        refresh_all(declaration)
    old = dp.open(place / "curator.toml").ask(COUNT, epsilon="0.1")
    for file in ("ledger.db", "ledger.db-wal", "signing.key"):
        if (state / file).exists():
            shutil.copy2(state / file, kept / file)
    shutil.rmtree(state)
    state.mkdir(mode=0o700)
    for file in kept.iterdir():
        shutil.copy2(file, state / file.name)
    (place / "visits.csv").write_text("who\n" + "\n".join(f"p{n}" for n in range(500)) + "\n")
    refresh_all(declaration)
    again = dp.open(place / "curator.toml")
    assert again.catalog.data_version == 4
    new = again.ask(COUNT, epsilon="0.1")
    assert not new.repeated
    assert new.spent == 2 * old.spent


def test_a8_the_folder_is_no_part_of_a_repository(place):
    refresh_all(load(place / "curator.toml"))
    assert (place / ".dpcurator" / ".gitignore").read_text() == "*\n"


def test_everything_beside_the_catalog_is_its_owners_alone(tmp_path):
    opened(tmp_path / "c").ask(COUNT, epsilon=1)
    state = tmp_path / "c" / ".dpcurator"
    assert stat.S_IMODE(state.stat().st_mode) == 0o700
    for path in state.iterdir():
        assert not stat.S_IMODE(path.stat().st_mode) & 0o077 or path.name.endswith(("-shm", "-wal")), path.name


def test_a_ledger_without_its_key_is_refused_and_no_new_key_is_made(tmp_path):
    opened(tmp_path / "c").ask(COUNT, epsilon=1)
    key = tmp_path / "c" / ".dpcurator" / "signing.key"
    key.rename(tmp_path / "kept.key")
    for _ in range(2):
        with pytest.raises(dp.Misconfigured, match="key"):
            dp.open(catalog(), directory=tmp_path / "c")
        with pytest.raises(dp.Misconfigured, match="key"):
            opened(tmp_path / "c")
    assert not key.exists()
    (tmp_path / "kept.key").rename(key)
    assert dp.open(catalog(), directory=tmp_path / "c").budget().spent == 1


def test_another_key_is_refused(tmp_path):
    opened(tmp_path / "c").ask(COUNT, epsilon=1)
    opened(tmp_path / "d")
    shutil.copy(tmp_path / "d" / ".dpcurator" / "signing.key", tmp_path / "c" / ".dpcurator" / "signing.key")
    with pytest.raises(dp.Misconfigured, match="public key"):
        dp.open(catalog(), directory=tmp_path / "c")


def test_the_key_is_made_with_the_first_refresh_and_kept(tmp_path):
    first = key_of(load(catalog(), directory=_made(tmp_path)))
    opened(tmp_path)
    assert key_of(load(catalog(), directory=tmp_path)).public == first.public


def _made(place: Path) -> Path:
    opened(place)
    return place


def test_a_snapshot_of_other_columns_is_refused(tmp_path):
    opened(tmp_path / "c")
    with pytest.raises(dp.Misconfigured, match="other tables"):
        dp.open(catalog(columns={"age": "float"}), directory=tmp_path / "c")


def test_version_and_file_come_from_one_reading(tmp_path, monkeypatch):
    """A refresh between two readings would label the old rows with the new version."""
    opened(tmp_path / "c")
    reads: list[object] = []
    honest = store.recorded
    monkeypatch.setattr(store, "recorded", lambda state: reads.append(state) or honest(state))
    info = store.open_snapshot(load(catalog(), directory=tmp_path / "c"))
    assert len(reads) == 1
    assert info.path.name == f"snapshot-{info.facts.version:04d}.duckdb"


def test_a_snapshot_swapped_under_an_open_curator_changes_no_answer(tmp_path):
    """The file is replaced and then removed between two questions: what was opened is what answers."""
    curator = opened(tmp_path / "c", epsilon=10**9)
    other = opened(tmp_path / "d", [], epsilon=10**9)
    other.ledger.close()
    assert curator.ask(COUNT, epsilon=10**6).rows == [(40,)]
    path = tmp_path / "c" / ".dpcurator" / "snapshot-0001.duckdb"
    os.replace(tmp_path / "d" / ".dpcurator" / "snapshot-0001.duckdb", path)
    assert curator.ask(COUNT, epsilon=10**6, fresh=True).rows == [(40,)]
    path.unlink()
    assert curator.ask(COUNT, epsilon=10**6, fresh=True).rows == [(40,)]


def test_a_snapshot_cannot_be_written_through_the_curator(tmp_path):
    curator = opened(tmp_path / "c")
    path = tmp_path / "c" / ".dpcurator" / "snapshot-0001.duckdb"
    before = path.read_bytes()
    for _ in range(3):
        curator.ask(COUNT, epsilon="0.1", fresh=True)
    assert path.read_bytes() == before
    assert sorted(p.name for p in path.parent.glob("snapshot*")) == [path.name]


def test_threads_that_open_the_engine_at_once_share_what_comes_of_it(tmp_path):
    curator = opened(tmp_path / "c", epsilon=10**9)
    barrier = threading.Barrier(12)

    def ask(n: int) -> tuple[object, ...]:
        barrier.wait()
        return curator.ask(f"SELECT COUNT(*) FROM visits WHERE age >= {n}", epsilon=10**6).rows[0]

    with ThreadPoolExecutor(12) as pool:
        assert list(pool.map(ask, range(12))) == [(sum(row[2] >= n for row in ROWS),) for n in range(12)]
    assert curator.engine() is curator.engine()


def test_two_curators_share_one_budget(tmp_path):
    one = opened(tmp_path / "c", epsilon=1)
    other = dp.open(catalog(epsilon=1), directory=tmp_path / "c")
    one.ask(COUNT, epsilon="0.6")
    with pytest.raises(dp.OverBudget):
        other.ask("SELECT SUM(age) FROM visits", epsilon="0.6")
    assert other.ask(COUNT, epsilon="0.6").repeated


def test_closed_by_one_is_closed_for_all_until_reopened(tmp_path):
    one = opened(tmp_path / "c")
    one.ledger.close_after_fault()
    other = dp.open(catalog(), directory=tmp_path / "c")
    with pytest.raises(dp.Misconfigured, match="reopen"):
        other.ask(COUNT, epsilon=1)
    assert other.reopen()
    assert not other.reopen()
    assert one.ask(COUNT, epsilon=1).spent == 1


def test_the_ledger_needs_no_snapshot(place):
    declaration = load(place / "curator.toml")
    refresh_all(declaration)
    curator_of(declaration).ask(COUNT, epsilon="0.25")
    for path in (place / ".dpcurator").glob("snapshot*"):
        path.unlink()
    assert ledger_of(declaration, key_of(declaration)).budget().remaining == 3 / 4


def test_c5_what_could_not_be_read_of_a_frame_is_warned_of_and_kept(tmp_path):
    rows = [*ROWS[:-1], (None, "leeds", "many", 0, True, "29.02.2024", 0.0)]
    with pytest.warns(UserWarning, match="not everything in visits was read as declared.*curator.report") as caught:
        curator = opened(tmp_path, rows)
    assert caught[0].filename == __file__ or caught[0].filename.endswith("house.py")
    assert "many" not in str(caught[0].message)
    assert not curator.report.clean
    for told in ("1 values of 'age' unreadable", "1 values of 'day' unreadable", "1 rows without a unit"):
        assert told in str(curator.report)
    assert "report" not in repr(curator)
    with pytest.warns(UserWarning, match="Nothing could be read of visits.age"):
        opened(tmp_path, [("a", "Leeds", "many", 0.0, True, None, 0.0)])


def test_c5_a_clean_report_is_kept_without_a_warning_and_a_refresh_elsewhere_has_none(tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        curator = opened(tmp_path)
    assert curator.report.clean
    assert curator.report.tables[0].rows == 40
    assert dp.open(catalog(), directory=tmp_path).report is None


SPILLED = """
import os, signal, sys
from pathlib import Path
import dpcurator as dp
from dpcurator.engines.duckdb.engine import DuckDB
def killed(self, query):
    with self._cursor() as cursor:
        (spill,) = cursor.execute("SELECT current_setting('temp_directory')").fetchone()
    Path(spill).mkdir()
    (Path(spill) / "duckdb_temp_storage-0.tmp").write_bytes(b"rows")
    os.kill(os.getpid(), signal.SIGKILL)
DuckDB._run = DuckDB._run_all = killed
dp.open(sys.argv[1]).ask("SELECT COUNT(*) AS n FROM visits", spend="10%")
"""


def test_t3_what_a_killed_question_left_on_the_disk_is_gone_at_the_next_start_and_what_a_living_one_has_is_not(place):
    refresh_all(load(place / "curator.toml"))
    ran = subprocess.run([sys.executable, "-c", SPILLED, str(place / "curator.toml")], capture_output=True, text=True)
    assert ran.returncode == -signal.SIGKILL, ran.stderr
    (left,) = (place / ".dpcurator").glob("spill-*")
    living = left.with_name(f"spill-{os.getpid()}")
    living.mkdir()
    dp.open(place / "curator.toml")
    assert list((place / ".dpcurator").glob("spill-*")) == [living]


@pytest.mark.slow
def test_t3_a_question_of_more_than_its_memory_spills_in_the_private_directory_and_killed_leaves_nothing(tmp_path):
    with duckdb.connect() as connection:
        units = "md5(i::VARCHAR) || md5((i + 1)::VARCHAR) AS who FROM range(9000000) t(i)"
        connection.execute(f"COPY (SELECT {units}) TO '{tmp_path}/visits.parquet' (FORMAT parquet)")
    small = TOML.replace('people"', 'people"\nthreads = 1\nmemory = 752').replace("csv", "parquet")
    (tmp_path / "curator.toml").write_text(small)
    refresh_all(load(tmp_path / "curator.toml"))
    asking = "import dpcurator as dp, sys; dp.open(sys.argv[1]).ask('SELECT COUNT(*) AS n FROM visits', spend='10%')"
    running = subprocess.Popen([sys.executable, "-c", asking, str(tmp_path / "curator.toml")])
    while not (spilled := list((tmp_path / ".dpcurator").glob("spill-*/*"))) and running.poll() is None:
        time.sleep(0.02)
    running.kill()
    running.wait()
    assert spilled, "it ended before anything was spilled"
    assert stat.S_IMODE((tmp_path / ".dpcurator").stat().st_mode) == 0o700
    dp.open(tmp_path / "curator.toml")
    assert not list((tmp_path / ".dpcurator").glob("spill-*"))
