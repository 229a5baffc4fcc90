//! What is read, and what is refused.

use super::*;

fn one(text: &str) -> Statement {
    let mut all = parse(text).unwrap();
    assert_eq!(all.len(), 1, "{text}");
    all.remove(0)
}

#[test]
fn statements_are_separated_by_lines_and_spaced_semicolons() {
    let text = "# all of it\nskip at f32.fadd:controls=ftz32;width=2; half rows;\n\n claim ftz32 ";
    let texts: Vec<String> =
        parse(text).unwrap().into_iter().map(|statement| statement.text).collect();
    assert_eq!(texts, ["skip at f32.fadd:controls=ftz32;width=2", "half rows", "claim ftz32"]);
    assert!(parse("").unwrap().is_empty());
}

#[test]
fn conditions_may_stand_anywhere_after_the_kind() {
    let statement = one(
        "crash at f32.f*|f32.sqrt SIGABRT on lavapipe in vkCreateComputePipelines nth 3 ever company",
    );
    assert_eq!(
        statement.kind,
        Kind::Act(Action::Crash(6), call("vkCreateComputePipelines").unwrap())
    );
    assert_eq!(
        (statement.on.as_str(), statement.count, statement.size),
        ("lavapipe", Count::Nth(3), Size::Company)
    );
    assert!(statement.ever && !statement.second && statement.at.choose(&["f32.fadd".to_owned()]));
}

#[test]
fn what_a_driver_says_is_read() {
    assert_eq!(one("claim ftz32").kind, Kind::Claim { control: Control::Ftz(32), honoured: true });
    assert_eq!(
        one("claim rtz16 ignored").kind,
        Kind::Claim { control: Control::Rtz(16), honoured: false }
    );
    let withheld = Kind::Withhold(ash::vk::Format::R8_SNORM, ash::vk::FormatFeatureFlags::BLIT_DST);
    assert_eq!(one("withhold blitDst of 10").kind, withheld);
    assert_eq!(one("feature shaderFloat16 2").kind, Kind::Feature("shaderFloat16", 2));
    let on = one("feature shaderFloat64 on on lavapipe");
    assert_eq!((on.kind, on.on.as_str()), (Kind::Feature("shaderFloat64", 1), "lavapipe"));
    assert_eq!(
        one("limit maxStorageBufferRange 0xffffffff").kind,
        Kind::Limit("maxStorageBufferRange", 0xffff_ffff)
    );
    let Kind::Text { bytes, endless, .. } = one(r"string driverInfo endless a\s\e\xfF\\").kind
    else {
        panic!()
    };
    assert_eq!((bytes.as_slice(), endless), (&b"a \x1b\xff\\"[..], true));
    let Kind::Report(report) =
        one(r"device-fault lost\sit address 0x10 vendor mmu 7 8 binary 4").kind
    else {
        panic!()
    };
    assert_eq!((report.description.as_slice(), report.binary), (&b"lost it"[..], 4));
    assert_eq!(report.vendor, [(b"mmu".to_vec(), 7, 8)]);
}

#[test]
fn nothing_wrong_passes_silently() {
    for (wrong, part) in [
        ("explode", "no statement"),
        ("crash", "in CALL"),
        ("crash in vkCreateNothing", "vkCreateNothing"),
        ("crash in vkCreateComputePipelines at f32.fad", "f32.fad"),
        ("crash in vkAllocateMemory at f32.fadd", "no kernels"),
        ("return VK_ERROR_UNKNOWN in vkDestroyDevice", "returns nothing"),
        ("return VK_ERROR_WHATEVER in vkQueueSubmit", "VK_ERROR_WHATEVER"),
        ("claim ftz23", "ftz23"),
        ("claim nocontract", "claims"),
        ("claim ftz32 once", "`on` only"),
        ("limit maxEverything 1", "maxEverything"),
        ("string deviceUUID x", "no string"),
        (r"string deviceName \q", r"\q"),
        ("skip in vkQueueSubmit", "`in`"),
        ("half", "no statement"),
        ("skip nth 0", "counting"),
        ("flip 2", "no probability"),
        ("queues 2 once", "`on` only"),
        ("skip at", "must follow"),
    ] {
        let error = parse(&format!("skip\n{wrong}")).unwrap_err();
        assert!(error.contains(part) && error.contains(wrong), "{wrong}: {error}");
    }
}
