"""The tables of a fleet that does not exist, in the current folder, as docs/fleet.md defines them.

synthetic_fleet.py DEVICES writes `tables/devices` and `tables/roots`: eight devices on each host,
five models of each of four vendors, all measured within a week in which each model changes from one
driver version to the next; 200 traits of each device, and the roots of 25 kernels. Everything
follows from the number of a device. What there is to find:

- `NVIDIA Example 2` deviates from the profile `vulkan` under its newer driver;
- device 123,457 (modulo DEVICES) has a cause more than its equals;
- device 777,777 (modulo DEVICES) has another root of `f32.sin`;
- models 4, a fifth of the fleet, flush subnormals of f16.

With the argument `read` it reads them again, by pyarrow, and prints as JSON: the number of rows of
both tables, and the number of devices by the value of the trait `f16.subnormal_results`.
"""

import collections
import json
import pathlib
import sys


def write(size):
    import duckdb

    connection = duckdb.connect()
    connection.execute(f"""
create table kernels as select unnest(['f16.fadd', 'f16.fdiv', 'f16.fmul', 'f16.fsub', 'f32.acos',
  'f32.asin', 'f32.atan', 'f32.cos', 'f32.cosh', 'f32.exp', 'f32.exp2', 'f32.fconvert_f16',
  'f32.floor', 'f32.fract', 'f32.inverse_sqrt', 'f32.log', 'f32.log2', 'f32.rcp', 'f32.round_even',
  'f32.sin', 'f32.sinh', 'f32.sqrt', 'f32.tan', 'f32.tanh', 'f32.trunc']) as kernel;

create table fleet as
select id, date '2026-11-20' + (id // 8 % 7)::integer as day, v.vendor,
  format('node-{{:06d}}', id // 8) as host, format('pci:0000:{{:02x}}:00.0', id % 8 + 1) as slot,
  format('{{}} Example {{}}', v.name, id // 32 % 5) as model, (id // 32 % 5)::uinteger as device_id,
  lower(v.name) || 'pipe' as driver,
  if(id // 8 % 7 < 2 + id // 32 % 5, '26.1.0', '26.2.0') as version
from range({size}) as ids(id)
join (values (0, '0x1002', 'AMD'), (1, '0x10de', 'NVIDIA'), (2, '0x8086', 'Intel'), (3, '0x10005', 'Mesa'))
  as v(number, vendor, name) on v.number = id // 8 % 4;

create table behaviours as
select model, version,
  json_object('d3d11', 'deviates', 'vulkan', if(is_worse, 'deviates', 'conforms'))::varchar as classes,
  json(map_from_entries([(format('f32.trait_{{:03d}}', i), 'yes') for i in range(198)]
    || [(name, if(device_id = 4, 'flushed', 'kept'))
        for name in ['f16.subnormal_operands', 'f16.subnormal_results']]))::varchar as traits,
  if(is_worse, '["a00001","a00002"]', '["a00001"]') as causes
from (select distinct model, version, device_id, model = 'NVIDIA Example 2' and version = '26.2.0' as is_worse
  from fleet);

create table expected as
select model, version, kernel, sha256(model || version || kernel) as root
from (select distinct model, version from fleet), kernels;
""")
    # A partition at a time, since a whole day of roots is large. Seven days, four vendors.
    for day, vendor in connection.execute("select distinct day, vendor from fleet order by all").fetchall():
        connection.execute(f"""
create or replace temp table part as
select * from fleet where day = '{day}' and vendor = '{vendor}' order by model, version""")
        for table, columns, other in [
            ("devices", f"""device_id, driver, version, '1.0.0' as program, day + to_seconds(id % 86400) as measured,
              false as tainted, classes, traits, if(id = {123457 % size}, '["a00001","b00001"]', causes) as causes""",
             "behaviours"),
            ("roots", f"""driver, version, kernel,
              if(id = {777777 % size} and kernel = 'f32.sin', sha256('wrong'), root) as root""", "expected"),
        ]:
            folder = pathlib.Path("tables", table, f"day={day}", f"vendor={vendor}")
            folder.mkdir(parents=True)
            connection.execute(f"""
copy (select host, slot, model, {columns} from part join {other} using (model, version))
to '{folder}/data_0.parquet' (format parquet, compression zstd)""")


def read():
    import pyarrow
    from pyarrow import dataset

    schema = pyarrow.schema([("day", pyarrow.date32()), ("vendor", pyarrow.string())])
    partitioning = dataset.partitioning(schema, flavor="hive")
    # Equal devices have equal traits: as many texts as there are behaviours, not devices.
    texts = dataset.ParquetFileFormat(dictionary_columns={"traits"})
    tables = {
        name: dataset.dataset(f"tables/{name}", format=texts, partitioning=partitioning)
        for name in ["devices", "roots"]
    }
    by_traits = tables["devices"].to_table(columns=["traits"]).column("traits").value_counts()
    values = collections.Counter()
    for group in by_traits.to_pylist():
        values[json.loads(group["values"])["f16.subnormal_results"]] += group["counts"]
    json.dump({name: table.count_rows() for name, table in tables.items()} | {"values": values}, sys.stdout)


if sys.argv[1] == "read":
    read()
else:
    write(int(sys.argv[1]))
