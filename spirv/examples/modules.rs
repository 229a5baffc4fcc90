//! Writes every module of the catalogue to standard output, for the package
//! `fpprobe-spirv-validation`, which must not link what this crate links (see there).
//!
//! A record is one line `KIND LENGTH NAME` and as many bytes. Kind `spv` is a module; `spvasm` the
//! text of the module written just before it.

use std::error::Error;
use std::io::{self, Write};
use std::sync::Arc;

use fpprobe_spirv::emit::{EmitFormat, emit};
use fpprobe_spirv::plan::{GROUP, LayoutRequest, Variant};
use fpprobe_spirv::sweep::{self, Domain, Sink};
use fpprobe_spirv::{
    Cases, Control, Controls, Format, Kernel, Need, Plan, Route, Stage, Via, cases, catalogue,
    module, needs, products,
};

/// Sets that a program may carry, beside the empty one and each control alone.
const COMBINED: [&str; 5] = [
    "ftz32,szin32,nocontract",
    "ftz16,ftz32,ftz64,szin16,szin32,szin64,rte16,rte32,rte64",
    "dp16,dp32,dp64,szin16,szin32,szin64,rtz16,rtz32,rtz64,nocontract",
    "dp16,ftz32,dp64,rte32,rtz16,fastmath0",
    "dp16,dp32,dp64,rte16,rte32,rte64,fastmath0",
];

const VARIANTS: [Variant; 2] = [
    Variant { shift: 0, reversed: false, group: GROUP, subgroup: None },
    // A local size that is no power of two.
    Variant { shift: 3, reversed: true, group: 48, subgroup: None },
];

/// Stages of shaders that draw.
const DRAWING: [Stage; 3] = [Stage::Fragment, Stage::Vertex, Stage::Geometry];

/// Products of matrices, as devices enumerate them.
const UNITS: [&str; 8] = [
    "8x8x8-f16-f16-f16-f16",
    "16x16x16-f16-f16-f32-f32",
    "16x8x8-f32-f32-f32-f32",
    "16x16x32-e4m3-e4m3-f32-f32",
    "16x16x32-e5m2-e5m2-f16-f16",
    "8x16x32-u8-u8-u32-u32",
    "16x8x32-i8-u8-i32-i32",
    "16x16x16-i8-i8-i32-i32-saturating",
];

/// Slots of a kernel whose operands the plan brings.
const SLOTS: usize = 5;

/// Kernels of a module, as many as a program runs at once by default: what the validator takes
/// grows with their square.
const SHARING: usize = 64;

/// Cases of a kernel in a text.
const CASES: usize = 50;

fn main() -> Result<(), Box<dyn Error>> {
    let mut out = io::BufWriter::new(io::stdout().lock());
    let combined = combined()?;
    for controls in sets(&combined)? {
        for via in [Via::Spirv, Via::Glsl] {
            for format in Format::ALL {
                let kernels: Vec<Kernel> = unfolded(format)
                    .filter_map(|kernel| kernel_under(kernel, controls, via))
                    .collect();
                if format.channels().is_empty() {
                    for kernels in catalogue::sharing(kernels.iter().copied()) {
                        together(&mut out, &kernels)?;
                    }
                }
                if !format.channels().is_empty() || controls.is_empty() {
                    alone(&mut out, &kernels)?;
                }
            }
        }
        for kernels in catalogue::side_by_side() {
            let kernels: Vec<Kernel> = kernels
                .into_iter()
                .filter_map(|kernel| kernel_under(kernel, controls, Via::Spirv))
                .collect();
            together(&mut out, &kernels)?;
        }
        // How operands come has nothing to do with any single control.
        if !controls.is_empty() && !combined.contains(&controls) {
            continue;
        }
        for (route, format) in
            Route::OTHERS.into_iter().flat_map(|route| Format::ALL.map(|format| (route, format)))
        {
            let by = kernels(format).map(|kernel| Kernel { route, ..kernel });
            let kernels: Vec<Kernel> =
                by.filter_map(|kernel| kernel_under(kernel, controls, Via::Spirv)).collect();
            brought(&mut out, &kernels, controls)?;
        }
        for format in Format::ALL {
            swept(
                &mut out,
                kernels(format).filter_map(|kernel| kernel_under(kernel, controls, Via::Spirv)),
            )?;
        }
        for (stage, format) in
            DRAWING.into_iter().flat_map(|stage| Format::ALL.map(|format| (stage, format)))
        {
            let at = unfolded(format).map(|kernel| Kernel { stage, ..kernel });
            let kernels: Vec<Kernel> =
                at.filter_map(|kernel| kernel_under(kernel, controls, Via::Spirv)).collect();
            for kernels in catalogue::sharing(kernels) {
                together(&mut out, &kernels)?;
            }
        }
    }
    matrices(&mut out)?;
    texts(&mut out, &combined)?;
    out.flush()?;
    Ok(())
}

fn combined() -> Result<Vec<Controls>, Box<dyn Error>> {
    COMBINED.iter().map(|text| Ok(text.parse()?)).collect()
}

/// None, each control alone, and these.
fn sets(combined: &[Controls]) -> Result<Vec<Controls>, Box<dyn Error>> {
    let mut sets = vec![Controls::NONE];
    for control in Control::all() {
        sets.push(Controls::new([control])?);
    }
    sets.extend(combined);
    Ok(sets)
}

/// Every kernel of a format that a shader runs, at every width it has.
fn kernels(format: Format) -> impl Iterator<Item = Kernel> {
    let plain = catalogue::plain().into_iter();
    let plain = plain.filter(move |kernel| kernel.format == format && !kernel.route.is_command());
    plain.flat_map(|kernel| kernel.op.widths().map(move |width| Kernel { width, ..kernel }))
}

/// The same without kernels that exist for constants alone, whose operands a plan brings.
fn unfolded(format: Format) -> impl Iterator<Item = Kernel> {
    kernels(format).filter(|kernel| !kernel.route.is_folded())
}

/// Whether a module of this kernel exists with 16-bit storage alone.
fn needs_storage16(kernel: &Kernel) -> bool {
    needs::needs(kernel).contains(&Need::Storage16)
}

/// The kernel under these controls by this front end, if there is one: its id says.
fn kernel_under(kernel: Kernel, controls: Controls, via: Via) -> Option<Kernel> {
    Kernel { controls, via, ..kernel }.to_string().parse().ok()
}

/// All kernels in one module: with and without 16-bit storage, both variants. Under controls two of
/// these four, in modules of a program's size.
fn together(out: &mut impl Write, kernels: &[Kernel]) -> Result<(), Box<dyn Error>> {
    let controlled = kernels.first().is_some_and(|first| !first.controls.is_empty());
    kernels
        .chunks(if controlled { SHARING } else { usize::MAX })
        .try_for_each(|kernels| shared(out, kernels))
}

/// Some kernels in one module.
fn shared(out: &mut impl Write, kernels: &[Kernel]) -> Result<(), Box<dyn Error>> {
    let first = &kernels[0];
    let sized: Vec<(Kernel, u32)> =
        (100..).zip(kernels).map(|(slots, kernel)| (*kernel, slots)).collect();
    let needed = kernels.iter().any(needs_storage16);
    for storage16 in [false, true].into_iter().filter(|storage16| *storage16 || !needed) {
        let variants = if first.controls.is_empty() {
            &VARIANTS[..]
        } else {
            &VARIANTS[usize::from(storage16)..][..1]
        };
        for variant in variants {
            let plan = Plan::new(&sized, storage16, *variant);
            let name = format!(
                "{} of {} from {} on, via {}, storage16 {storage16}, {variant:?}",
                first.controls,
                first.format,
                first.op.name,
                first.via.name()
            );
            module_of(out, &name, &plan)?;
        }
    }
    Ok(())
}

/// A plan's module, and the vertex shader before it, where it is behind one.
fn module_of(out: &mut impl Write, name: &str, plan: &Plan) -> Result<(), Box<dyn Error>> {
    if let Some(before) = module::vertex_shader(plan)? {
        record(out, "spv", &format!("vertices of {name}"), &bytes(&before))?;
    }
    record(out, "spv", name, &bytes(&module::build(plan)?))?;
    Ok(())
}

/// Each kernel in a module of its own, where no other can have declared what it forgets.
fn alone(out: &mut impl Write, kernels: &[Kernel]) -> Result<(), Box<dyn Error>> {
    for kernel in kernels {
        let needed = needs_storage16(kernel);
        for storage16 in [false, true].into_iter().filter(|storage16| *storage16 || !needed) {
            for variant in VARIANTS {
                let plan = Plan::new(&[(*kernel, 200)], storage16, variant);
                module_of(out, &format!("{kernel}, storage16 {storage16}, {variant:?}"), &plan)?;
            }
        }
    }
    Ok(())
}

/// The modules that ask kernels every input; NaNs are treated alike under all controls.
fn swept(
    out: &mut impl Write,
    kernels: impl Iterator<Item = Kernel>,
) -> Result<(), Box<dyn Error>> {
    for domain in kernels.filter_map(|kernel| Domain::of(&kernel).ok()) {
        let normalise = domain.kernel().controls.is_empty();
        for sink in [Sink::Store, Sink::Digest { normalise }, Sink::Raw] {
            let name = format!("{}, swept, {sink:?}", domain.kernel());
            record(out, "spv", &name, &bytes(&sweep::build(&domain, sink, sweep::OTHER_GROUP)?))?;
        }
    }
    Ok(())
}

/// Kernels whose operands the plan brings: all in one module, and under no controls each in its
/// own.
fn brought(
    out: &mut impl Write,
    kernels: &[Kernel],
    controls: Controls,
) -> Result<(), Box<dyn Error>> {
    let selected = |(operands, kernel): (usize, &Kernel)| {
        let cases = cases::boundary(kernel);
        let values: Arc<[u64]> = cases.iter().take(SLOTS).flatten().copied().collect();
        LayoutRequest { kernel: *kernel, slots: cases.len().min(SLOTS) as u32, operands, values }
    };
    let request: Vec<LayoutRequest> = kernels.iter().enumerate().map(selected).collect();
    let mut sharing = vec![request.as_slice()];
    if controls.is_empty() {
        sharing.extend(request.chunks(1));
    }
    for request in sharing.into_iter().filter(|request| !request.is_empty()) {
        let plan = Plan::sharing(request, true, VARIANTS[1]);
        let name = format!("{} and {} others", request[0].kernel, request.len() - 1);
        record(out, "spv", &name, &bytes(&module::build(&plan)?))?;
    }
    Ok(())
}

/// Kernels of cooperative matrices, for subgroups of fewer and more invocations than the matrices
/// have lines, and as text.
fn matrices(out: &mut impl Write) -> Result<(), Box<dyn Error>> {
    let units: Vec<String> = UNITS.map(str::to_owned).into();
    for kernel in products::kernels(&units) {
        for (group, reversed) in
            [8, 32, 64].into_iter().flat_map(|group| [(group, false), (group, true)])
        {
            let variant = Variant { shift: 1, reversed, group, subgroup: None };
            let plan = Plan::new(&[(kernel, 100)], reversed, variant);
            module_of(out, &format!("{kernel}, {variant:?}"), &plan)?;
        }
        for form in [EmitFormat::Spv, EmitFormat::Spvasm] {
            record(out, form.name(), &kernel.to_string(), &emit(&kernel, &few(&kernel), form)?)?;
        }
    }
    Ok(())
}

/// Each plain kernel as a file for others, as words and as text.
fn texts(out: &mut impl Write, sets: &[Controls]) -> Result<(), Box<dyn Error>> {
    for (index, kernel) in Format::ALL.into_iter().flat_map(kernels).enumerate() {
        for via in [Via::Spirv, Via::Glsl] {
            if let Some(kernel) = kernel_under(kernel, sets[index % sets.len()], via) {
                let inputs = few(&kernel);
                for form in [EmitFormat::Spv, EmitFormat::Spvasm] {
                    record(out, form.name(), &kernel.to_string(), &emit(&kernel, &inputs, form)?)?;
                }
            }
        }
        let other = Kernel { route: Route::OTHERS[index % Route::OTHERS.len()], ..kernel };
        if let Some(kernel) = kernel_under(other, sets[index % sets.len()], Via::Spirv) {
            for form in [EmitFormat::Spv, EmitFormat::Spvasm] {
                record(
                    out,
                    form.name(),
                    &kernel.to_string(),
                    &emit(&kernel, &cases::boundary(&kernel), form)?,
                )?;
            }
        }
    }
    Ok(())
}

/// The first cases of a kernel.
fn few(kernel: &Kernel) -> Cases {
    let all = cases::cases(kernel);
    let arity = all.iter().next().map_or(1, <[u64]>::len);
    let values: Vec<u64> = all.iter().take(CASES).flatten().copied().collect();
    Cases::new(all.name.clone(), arity, values)
}

fn bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

fn record(out: &mut impl Write, kind: &str, name: &str, content: &[u8]) -> io::Result<()> {
    writeln!(out, "{kind} {} {name}", content.len())?;
    out.write_all(content)
}
