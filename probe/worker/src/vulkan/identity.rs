//! Who a device is: its slot, its driver, and the key that stands for both.

use ash::{ext, khr, vk};
use fpprobe_reports::model::{Driver, Identity};

use super::cpu::cpu;
use super::instance::Instance;
use super::library::{Library, Role};
use super::physical::Physical;
use super::text::{hex, printable};
use super::version::{api_version, driver_version};

/// What only the chained structures tell.
#[derive(Default)]
struct Details {
    device_uuid: [u8; vk::UUID_SIZE],
    driver_uuid: [u8; vk::UUID_SIZE],
    driver_id: i32,
    driver_name: String,
    driver_info: String,
    pci: Option<[u32; 4]>,
}

/// Identity of a device; `before` are those that the same driver listed before it.
pub(super) fn identity(
    instance: &Instance,
    physical: &Physical,
    before: &[Identity],
    loaded: &[Library],
) -> Identity {
    let details = details(instance, physical);
    let core = &physical.properties;
    let kind = kind(core.device_type);
    let place = match details.pci {
        // A PCI address is a place in the machine; a CPU device has none, whatever it says.
        Some(address) if kind != "cpu" => pci_slot(address),
        _ => {
            let stem =
                format!("{kind}:{:x}:{:x}:{:x}", core.vendor_id, core.device_id, details.driver_id);
            let ordinal =
                before.iter().filter(|other| other.slot.starts_with(&format!("{stem}:"))).count();
            format!("{stem}:{ordinal:x}")
        }
    };
    // Where several drivers are loaded nothing says whose device this is.
    let mut drivers = loaded.iter().filter(|library| library.role == Role::Driver);
    let library = drivers.next().filter(|_| drivers.next().is_none());
    let mut identity = Identity {
        key: String::new(),
        slot: place,
        name: printable(&core.device_name),
        kind: kind.to_owned(),
        vendor_id: core.vendor_id,
        device_id: core.device_id,
        device_uuid: hex(&details.device_uuid),
        driver: Driver {
            id: details.driver_id.cast_unsigned(),
            version: driver_version(details.driver_id, core.vendor_id, core.driver_version),
            name: details.driver_name,
            info: details.driver_info,
            api_version: api_version(core.api_version),
            uuid: hex(&details.driver_uuid),
            pipeline_cache_uuid: hex(&core.pipeline_cache_uuid),
            manifest: String::new(),
            library: library.map(|library| library.path.clone()).unwrap_or_default(),
            build_id: library.map(|library| library.build_id.clone()).unwrap_or_default(),
        },
        cpu: if kind == "cpu" { cpu() } else { None },
    };
    identity.key = key(&identity);
    identity
}

fn details(instance: &Instance, physical: &Physical) -> Details {
    if !physical.speaks_1_1() {
        return Details::default();
    }
    let mut ids = vk::PhysicalDeviceIDProperties::default();
    let mut driver = vk::PhysicalDeviceDriverProperties::default();
    let mut pci = vk::PhysicalDevicePCIBusInfoPropertiesEXT::default();
    let has_pci = physical.has(ext::pci_bus_info::NAME);
    let mut chain = vk::PhysicalDeviceProperties2::default().push_next(&mut ids);
    if physical.knows(khr::driver_properties::NAME, vk::API_VERSION_1_2) {
        chain = chain.push_next(&mut driver);
    }
    if has_pci {
        chain = chain.push_next(&mut pci);
    }
    // SAFETY: the handle is the instance's; only structures that the device knows are chained, and
    // they outlive the call. Vulkan 1.1 loaders have the function.
    unsafe { instance.raw().get_physical_device_properties2(physical.raw, &mut chain) };
    Details {
        device_uuid: ids.device_uuid,
        driver_uuid: ids.driver_uuid,
        driver_id: driver.driver_id.as_raw(),
        driver_name: printable(&driver.driver_name),
        driver_info: printable(&driver.driver_info),
        pci: has_pci.then_some([pci.pci_domain, pci.pci_bus, pci.pci_device, pci.pci_function]),
    }
}

fn kind(device_type: vk::PhysicalDeviceType) -> &'static str {
    match device_type {
        vk::PhysicalDeviceType::DISCRETE_GPU => "discrete",
        vk::PhysicalDeviceType::INTEGRATED_GPU => "integrated",
        vk::PhysicalDeviceType::VIRTUAL_GPU => "virtual",
        vk::PhysicalDeviceType::CPU => "cpu",
        _ => "other",
    }
}

/// `pci:DDDD:BB:DD.F`, as `lspci -D` prints it.
fn pci_slot([domain, bus, device, function]: [u32; 4]) -> String {
    format!("pci:{domain:04x}:{bus:02x}:{device:02x}.{function:x}")
}

/// Digest of slot and driver: FNV-1a, 64 bits, over the fields in this order, each with a zero byte
/// after it, as 16 hex digits. It tells devices and driver updates apart; it is no protection
/// against forgery.
fn key(identity: &Identity) -> String {
    const OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
    const PRIME: u64 = 0x0000_0100_0000_01b3;
    let driver = &identity.driver;
    let numbers =
        [identity.vendor_id, identity.device_id, driver.id].map(|number| number.to_string());
    let fields = [
        &identity.slot,
        &identity.name,
        &identity.kind,
        &numbers[0],
        &numbers[1],
        &identity.device_uuid,
        &numbers[2],
        &driver.name,
        &driver.info,
        &driver.version,
        &driver.api_version,
        &driver.uuid,
        &driver.pipeline_cache_uuid,
        &driver.library,
        &driver.build_id,
        identity.cpu.as_ref().unwrap_or(&String::new()),
    ]
    .map(Clone::clone);
    let bytes = fields.iter().flat_map(|field| field.bytes().chain([0]));
    let digest = bytes.fold(OFFSET, |digest, byte| (digest ^ u64::from(byte)).wrapping_mul(PRIME));
    format!("{digest:016x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_print_as_lspci_does() {
        assert_eq!(pci_slot([0, 0x3b, 0, 1]), "pci:0000:3b:00.1");
        assert_eq!(pci_slot([0x10000, 0xff, 0x1f, 7]), "pci:10000:ff:1f.7");
    }

    fn sample() -> Identity {
        let text = |text: &str| text.to_owned();
        Identity {
            key: String::new(),
            slot: text("pci:0000:01:00.0"),
            name: text("GPU"),
            kind: text("discrete"),
            vendor_id: 1,
            device_id: 2,
            device_uuid: text("00"),
            driver: Driver {
                id: 3,
                name: text("driver"),
                info: text("info"),
                version: text("1.2.3"),
                api_version: text("1.3.0"),
                uuid: text("01"),
                pipeline_cache_uuid: text("02"),
                manifest: text("/m.json"),
                library: text("/l.so"),
                build_id: text("03"),
            },
            cpu: None,
        }
    }

    #[test]
    fn keys_stay_the_same_from_release_to_release() {
        assert_eq!(key(&sample()), "7a23ff2c533262f0");
    }

    #[test]
    fn every_field_of_slot_and_driver_changes_the_key() {
        let changes: [fn(&mut Identity); 8] = [
            |identity| identity.slot.push('1'),
            |identity| identity.device_uuid.push('1'),
            |identity| identity.driver.id += 1,
            |identity| identity.driver.version.push('1'),
            |identity| identity.driver.uuid.push('1'),
            |identity| identity.driver.library.push('1'),
            |identity| identity.driver.build_id.push('1'),
            |identity| identity.cpu = Some("cpu".into()),
        ];
        for (number, change) in changes.into_iter().enumerate() {
            let mut changed = sample();
            change(&mut changed);
            assert_ne!(key(&changed), key(&sample()), "change {number}");
        }
        let mut moved = sample();
        moved.driver.manifest = "/elsewhere.json".to_owned();
        assert_eq!(key(&moved), key(&sample()), "the manifest only says how the driver was found");
    }
}
