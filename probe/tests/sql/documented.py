"""Runs the queries that a document has, in the current folder, by DuckDB.

documented.py DOCUMENT.md [FIRST] prints for each of its SQL blocks, from number FIRST (1) on, a JSON
line: `rows`, a list of rows, each a list of values, and `seconds`, the time that it took. Blocks
that return nothing (views, tables, files) have no rows.
"""

import json
import re
import sys
import time

import duckdb

text = open(sys.argv[1], encoding="utf-8").read()
first = int(sys.argv[2]) if len(sys.argv) > 2 else 1
connection = duckdb.connect()
for block in re.findall(r"```sql\n(.*?)```", text, re.DOTALL)[first - 1 :]:
    begun = time.monotonic()
    rows = connection.execute(block).fetchall()
    seconds = time.monotonic() - begun
    print(json.dumps({"rows": rows, "seconds": seconds}, default=str))
