//! Groups of users, by `/etc/group`.

use std::fs;
use std::io;

/// The name of a group, or its number where that has none.
pub fn name(id: u32) -> String {
    let groups = fs::read_to_string("/etc/group").unwrap_or_default();
    let named = groups.lines().find_map(|line| {
        let (name, own) = entry(line)?;
        (own == id).then(|| name.to_owned())
    });
    named.unwrap_or_else(|| id.to_string())
}

/// A group by name or number; `None` where no group has that name.
pub fn id(name: &str) -> io::Result<Option<u32>> {
    if let Ok(number) = name.parse() {
        return Ok(Some(number));
    }
    let groups = fs::read_to_string("/etc/group")?;
    Ok(groups.lines().filter_map(entry).find(|(own, _)| *own == name).map(|(_, id)| id))
}

/// Name and number of a line `NAME:PASSWORD:NUMBER:MEMBERS`.
fn entry(line: &str) -> Option<(&str, u32)> {
    let mut fields = line.split(':');
    Some((fields.next()?, fields.nth(1)?.parse().ok()?))
}
