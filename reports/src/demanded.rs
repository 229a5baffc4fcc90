//! What a device of its Vulkan version must claim, and does not.
//!
//! Source: Vulkan 1.4, "Limits", required limits of `VkPhysicalDeviceVulkan12Properties`.

use crate::model::{Claims, Finding, Identity};

/// From which version a property must be claimed, its name, and the feature without which it need
/// not be.
const DEMANDED: [((u32, u32), &str, Option<&str>); 2] = [
    ((1, 4), "shaderSignedZeroInfNanPreserveFloat16", Some("shaderFloat16")),
    ((1, 4), "shaderSignedZeroInfNanPreserveFloat32", None),
];

/// Every property that the device's version demands and the driver says it lacks.
pub fn unclaimed(identity: &Identity, claims: &Claims) -> Vec<Finding> {
    let says = |name: &str| claims.flags.get(name).copied();
    let Some(version) = version(&identity.driver.api_version) else { return Vec::new() };
    let concerns =
        |feature: Option<&str>| feature.is_none_or(|feature| says(feature) == Some(true));
    let demanded =
        DEMANDED.iter().filter(|(since, _, feature)| version >= *since && concerns(*feature));
    let missing = demanded.filter(|(_, name, _)| says(name) == Some(false));
    let finding = |((major, minor), name, _): &((u32, u32), &str, Option<&str>)| Finding {
        kind: "claim".to_owned(),
        text: format!("{name} is not claimed, though Vulkan {major}.{minor} demands it"),
        evidence: Vec::new(),
    };
    missing.map(finding).collect()
}

/// Major and minor of `1.4.305`.
fn version(text: &str) -> Option<(u32, u32)> {
    let mut numbers = text.split('.').map(|number| number.parse().ok());
    Some((numbers.next()??, numbers.next()??))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Driver;

    fn identity(api_version: &str) -> Identity {
        let text = String::new;
        let driver = Driver {
            id: 0,
            name: text(),
            info: text(),
            version: text(),
            api_version: api_version.to_owned(),
            uuid: text(),
            pipeline_cache_uuid: text(),
            manifest: text(),
            library: text(),
            build_id: text(),
        };
        Identity {
            key: text(),
            slot: text(),
            name: text(),
            kind: text(),
            vendor_id: 0,
            device_id: 0,
            device_uuid: text(),
            driver,
            cpu: None,
        }
    }

    #[test]
    fn what_the_version_demands_must_be_claimed() {
        let unclaimed = |version: &str, flags: &[(&str, bool)]| -> Vec<String> {
            let flags =
                flags.iter().map(|(name, claimed)| ((*name).to_owned(), *claimed)).collect();
            let claims = Claims { flags, ..Claims::default() };
            super::unclaimed(&identity(version), &claims)
                .into_iter()
                .map(|finding| finding.text)
                .collect()
        };
        let (half, single) = (DEMANDED[0].1, DEMANDED[1].1);
        let none = [(half, false), (single, false), ("shaderFloat16", false)];
        assert_eq!(unclaimed("1.3.290", &none), Vec::<String>::new());
        assert_eq!(
            unclaimed("1.4.305", &none),
            [format!("{single} is not claimed, though Vulkan 1.4 demands it")]
        );
        let half_too = [(half, false), (single, true), ("shaderFloat16", true)];
        assert_eq!(
            unclaimed("1.4.305", &half_too),
            [format!("{half} is not claimed, though Vulkan 1.4 demands it")]
        );
        assert_eq!(
            unclaimed("2.0.0", &[(half, true), (single, true), ("shaderFloat16", true)]),
            Vec::<String>::new()
        );
        // What a report does not tell is not held against the device.
        assert_eq!(unclaimed("1.4.305", &[]), Vec::<String>::new());
        assert_eq!(unclaimed("?", &none), Vec::<String>::new());
    }
}
