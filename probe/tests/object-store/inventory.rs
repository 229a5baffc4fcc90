//! An inventory of what lies in a store is that of the same files in a folder.

use crate::scene::fpprobe;
use crate::store::{Store, sends};

#[test]
fn a_store_reads_as_the_folder_does() {
    let store = Store::new();
    for host in ["node-1", "node-2"] {
        store.run(host).with(0);
        let sweep = ["sweep", "--fingerprint", "f16.sqrt", "-o", "s3://fleet/a/b"];
        sends(store.probe(host).args(sweep)).with(0);
    }
    let folder = store.copied();
    let of_store =
        sends(store.probe("x").args(["inventory", "s3://fleet/a/b/", "--format", "json"]));
    let mut command = fpprobe(&[]);
    let of_folder =
        crate::scene::ends(command.arg("inventory").arg(&folder).args(["--format", "json"]));
    let folder = folder.to_string_lossy().into_owned();
    assert_eq!(of_store.with(0).replace("s3://fleet/a/b", &folder), of_folder.with(0));
    let inventory = of_folder.document(0);
    assert_eq!((&inventory["reports"], &inventory["hosts"]), (&2.into(), &2.into()));

    // A report whose results are damaged is named; a place without reports is an error.
    let inventory = ["inventory", "s3://fleet/nothing"];
    let ended = sends(store.probe("x").args(inventory));
    ended.with(2);
    assert!(ended.err.contains("no report found in s3://fleet/nothing"), "{}", ended.err);
    let ended = sends(store.probe("x").args(["inventory", "s3://no-such-bucket/a"]));
    ended.with(2);
    assert!(ended.err.contains("the store answered with 404 (NoSuchBucket)"), "{}", ended.err);
}
