"""Runs the queries that docs/formats.md documents, in the current folder, by DuckDB.

documented.py FORMATS.md prints the result of each as JSON: a list of rows, each a list of values;
first of all the names and types of the columns of new.parquet.
"""

import json
import re
import sys

import duckdb

text = open(sys.argv[1], encoding="utf-8").read()
queries = re.findall(r"```sql\n(.*?)```", text, re.DOTALL)
connection = duckdb.connect()
results = [connection.sql(query).fetchall() for query in ["describe select * from 'new.parquet'", *queries]]
json.dump(results, sys.stdout)
