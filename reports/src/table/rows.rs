//! What a report holds of each kernel, as the table shows it.

use std::collections::HashMap;
use std::sync::Arc;

use fpprobe_profiles::Observation;
use fpprobe_spirv::Kernel;

use super::form::RowForm;
use crate::model::{Device, Inputs, Outputs, Report, StoredObservation, Tables, Values};
use crate::record::{RecordError, form, read_device};

/// The rows of one kernel of one device.
pub(super) struct KernelRows<'a> {
    pub device: &'a str,
    /// Its place among the observations of the device.
    pub position: u32,
    pub entry: &'a StoredObservation,
    pub kernel: Option<Kernel>,
    /// None where there is no case.
    pub form: Option<RowForm>,
    pub cases: Arc<[u64]>,
    pub out: Option<Arc<[u64]>>,
    pub second: Option<Arc<[u64]>>,
}

impl KernelRows<'_> {
    /// Number of cases.
    pub(super) fn cases(&self) -> usize {
        self.form.as_ref().map_or(0, |form| self.cases.len() / form.case.numbers())
    }

    /// Rows of a case.
    pub(super) fn of_case(&self) -> usize {
        self.form.as_ref().map_or(1, |form| form.rows(self.out.is_some()))
    }

    /// Number of rows: one where there is no case.
    pub(super) fn count(&self) -> usize {
        (self.cases() * self.of_case()).max(1)
    }

    /// Operands of a row.
    pub(super) fn operands(&self) -> usize {
        self.form.as_ref().map_or(0, |form| form.operands(self.out.is_some()))
    }

    /// Name of the list of inputs; empty for one of its own.
    pub(super) fn inputs(&self) -> &str {
        if let Inputs::Table(name) = &self.entry.inputs { name } else { "" }
    }
}

/// The rows of a report, sorted by device and kernel. Kernels of other versions are left out where
/// their values have no form in common.
pub(super) fn of_report(report: &Report) -> Result<Vec<KernelRows<'_>>, RecordError> {
    let mut rows = Vec::new();
    for device in &report.devices {
        rows.append(&mut of_device(device, &report.inputs)?);
    }
    rows.sort_by(|one, other| {
        (one.device, &one.entry.kernel).cmp(&(other.device, &other.entry.kernel))
    });
    Ok(rows)
}

fn of_device<'a>(
    device: &'a Device,
    tables: &'a Tables,
) -> Result<Vec<KernelRows<'a>>, RecordError> {
    let mut known = read_device(&device.observations, tables)?.observations.into_iter();
    let mut earlier: HashMap<&str, &Values> = HashMap::new();
    let of = |(position, entry): (usize, &'a StoredObservation)| {
        let values = match &entry.out {
            Some(Outputs::Values(values)) => Some(values),
            Some(Outputs::SameAs { same_as }) => earlier.get(same_as.as_str()).copied(),
            None => None,
        };
        if let Some(values) = values {
            earlier.entry(entry.kernel.as_str()).or_insert(values);
        }
        let (device, position) = (&*device.identity.key, position as u32);
        match entry.kernel.parse::<Kernel>() {
            Ok(_) => Some(of_known(&KernelRows::new(device, position, entry), known.next()?)),
            Err(_) => of_unknown(KernelRows::new(device, position, entry), tables, values),
        }
    };
    Ok(device.observations.iter().enumerate().filter_map(of).collect())
}

impl<'a> KernelRows<'a> {
    /// Without any.
    fn new(device: &'a str, position: u32, entry: &'a StoredObservation) -> KernelRows<'a> {
        let (cases, out) = (Arc::default(), entry.out.is_some().then(Arc::default));
        KernelRows { device, position, entry, kernel: None, form: None, cases, out, second: None }
    }
}

fn of_known<'a>(rows: &KernelRows<'a>, own: Observation) -> KernelRows<'a> {
    let Observation { kernel, cases, outcome, out, second, .. } = own;
    let (case, result) = (form::of_params(&kernel.params()), form::of_results(&kernel.results()));
    let form = (!cases.is_empty()).then(|| RowForm::new(Some(&kernel), case, result));
    let out = outcome.answered().then_some(out);
    KernelRows { kernel: Some(kernel), form, cases: cases.values(), out, second, ..*rows }
}

fn of_unknown<'a>(
    rows: KernelRows<'a>,
    tables: &'a Tables,
    values: Option<&Values>,
) -> Option<KernelRows<'a>> {
    let entry = rows.entry;
    let cases = match &entry.inputs {
        Inputs::Table(name) => tables.get(name)?,
        Inputs::Cases(cases) => cases,
    };
    let is_whole = entry.out.is_none() || values.is_some_and(|values| values.len() == cases.len());
    if !is_whole || cases.is_empty() {
        return is_whole.then_some(rows);
    }
    let (case, bits) = cases.pattern()?;
    let (result, out) = match values {
        // Of what has no results none has a form.
        None => (case, None),
        Some(values) => {
            values.pattern().map(|(pattern, bits)| (pattern, Some(Arc::clone(bits))))?
        }
    };
    let count = result.numbers();
    let mut second = out.as_ref().filter(|_| !entry.second.is_empty()).map(|out| out.to_vec());
    for (place, value) in &entry.second {
        let mut own = Vec::with_capacity(count);
        result.append(value, &mut own).then_some(())?;
        second.as_mut()?.chunks_mut(count).nth(*place)?.copy_from_slice(&own);
    }
    let form = Some(RowForm::new(None, case.clone(), result.clone()));
    Some(KernelRows { form, cases: Arc::clone(bits), out, second: second.map(Arc::from), ..rows })
}
