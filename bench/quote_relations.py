"""How long a quote takes of a question with three names of WITH and two joins, in a warm process (target: 30 ms).

    python bench/quote_relations.py [runs]
"""

from __future__ import annotations

import statistics
import sys
import time

import dpcurator as dp

CATALOG = {
    "curator": {"protects": "patients"}, "ledger": {"epsilon": 4},
    "tables": {
        "visits": {"unit": "pid", "max_total": 20, "columns": {
            "pid": "integer", "city": {"type": "text", "keys": ["Leeds", "York"]}, "day": {"type": "date"},
            "cost": {"type": "float", "bounds": [0, 100]}}},
        "diagnoses": {"unit": "patient", "max_total": 20, "columns": {"patient": "integer", "code": "text"}},
    },
}
QUESTION = """
WITH costs AS (SELECT pid, SUM(cost) AS total, COUNT(*) AS n FROM visits GROUP BY pid),
home AS (SELECT pid, ARG_MIN(city, day) AS town FROM visits GROUP BY pid),
codes AS (SELECT patient, MIN(code) AS code FROM diagnoses GROUP BY patient)
SELECT town, AVG(CLIP(total, 0, 500)) AS cost, COUNT(*) AS n
FROM costs JOIN home USING (pid) LEFT JOIN codes ON codes.patient = costs.pid WHERE code = 'X' GROUP BY town
"""


def main(runs: int) -> None:
    """Print the median and the least milliseconds; each price is another one, so that nothing is remembered."""
    curator = dp.rehearsing(CATALOG)
    curator.quote(QUESTION, epsilon=1)
    times = []
    for number in range(runs):
        begun = time.perf_counter()
        curator.quote(QUESTION, epsilon=f"0.{number + 1}")
        times.append(1000 * (time.perf_counter() - begun))
    print(f"quote of three names of WITH and two joins: {statistics.median(times):.1f} ms, least {min(times):.1f} ms")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 30)
