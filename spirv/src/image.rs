//! The images of texel kernels: the conversion between vector and texel is the device's.

use rspirv::dr::Operand;
use rspirv::spirv::{
    BuiltIn, Capability, Decoration, Dim, ImageFormat, ImageOperands, Op, StorageClass, Word,
};

use crate::build_error::BuildError;
use crate::emitter::{Emitter, ids};
use crate::format::Format;
use crate::kernel::Shape;
use crate::modes;
use crate::op::{Code, FixedFunctionState};
use crate::plan::{IMAGE_WIDTH, Image};
use crate::route::Route;

const TEXEL: Shape = Shape::vector(Format::F32, 4);

/// Whether a storage image of this format needs the capability `StorageImageExtendedFormats`
/// (SPIR-V, "Image Format").
pub(crate) fn is_extended(format: Format) -> bool {
    let capabilities = |image| Operand::ImageFormat(image).required_capabilities();
    format
        .image_format()
        .is_some_and(|image| capabilities(image).contains(&Capability::StorageImageExtendedFormats))
}

/// An image in a module: its variable and the type of what is loaded from it. Of an attachment or
/// attribute it is the output or input itself.
#[derive(Clone, Copy)]
pub(crate) struct ImageVariable {
    image: Image,
    variable: Word,
    kind: Word,
}

impl Emitter {
    /// Declares an image, and what the module must be capable of for it.
    pub(crate) fn declare_image(&mut self, image: Image) -> Result<ImageVariable, BuildError> {
        if let Some(class) = image.interface() {
            let shape = image.put_out();
            let kind = self.shape(shape);
            let variable = if image.is_depth_output() {
                self.built_in_of(class, kind, BuiltIn::FragDepth, "texel")
            } else {
                let variable = self.interface(class, kind, image.number);
                self.builder.name(variable, numbered("texel", image));
                variable
            };
            return Ok(ImageVariable { image, variable, kind });
        }
        let kind = self.image_type(image)?;
        let pointer = self.builder.type_pointer(None, StorageClass::UniformConstant, kind);
        let variable = self.builder.variable(pointer, None, StorageClass::UniformConstant, None);
        self.builder.name(variable, numbered("image", image));
        self.bind(variable, image.binding());
        if image.route == Route::StorageImage && !image.is_scratch() {
            let access =
                if image.is_written() { Decoration::NonReadable } else { Decoration::NonWritable };
            self.builder.decorate(variable, access, []);
        }
        Ok(ImageVariable { image, variable, kind })
    }

    fn image_type(&mut self, image: Image) -> Result<Word, BuildError> {
        let float = self.scalar(Format::F32);
        // Neither depth, arrayed nor multisampled. 1: used with a sampler, or could be; 2: without.
        let plain = |emitter: &mut Emitter, dim, sampled, format| {
            emitter.builder.type_image(float, dim, 0, 0, 0, sampled, format, None)
        };
        Ok(match image.route {
            Route::StorageImage => {
                let format = image
                    .format
                    .image_format()
                    .ok_or(BuildError::NoImageFormat { format: image.format })?;
                if is_extended(image.format) {
                    modes::require(&mut self.builder, Capability::StorageImageExtendedFormats, "");
                }
                plain(self, Dim::Dim2D, 2, format)
            }
            Route::TexelBuffer => {
                modes::require(&mut self.builder, Capability::SampledBuffer, "");
                plain(self, Dim::DimBuffer, 1, ImageFormat::Unknown)
            }
            Route::Sampled | Route::View => {
                let kind = plain(self, Dim::Dim2D, 1, ImageFormat::Unknown);
                if image.is_filtered() { self.builder.type_sampled_image(kind) } else { kind }
            }
            _ => return Err(BuildError::NoShader { route: image.route }),
        })
    }

    /// Writes a vector to the texel of this slot. Components that the format lacks are those of
    /// GLSL: 0, 0, 1.
    pub(crate) fn write_texel(
        &mut self,
        declared: ImageVariable,
        slot: Word,
        shape: Shape,
        value: Word,
    ) -> Result<(), BuildError> {
        if declared.image.is_depth_output() {
            self.builder.store(declared.variable, value, None, [])?;
            return Ok(());
        }
        let scalar = Shape::scalar(shape.format);
        let mut parts = Vec::new();
        for index in 0..TEXEL.width {
            parts.push(match (index < shape.width, index, shape.format.float()) {
                (true, ..) => self.component(shape, value, index)?,
                (false, 3, Some(layout)) => self.constant(scalar, layout.one()),
                _ => self.constant(scalar, 0),
            });
        }
        let texel = self.compose(TEXEL, &parts)?;
        if declared.image.interface().is_some() {
            self.builder.store(declared.variable, texel, None, [])?;
            return Ok(());
        }
        let loaded = self.value(Op::Load, declared.kind, ids([declared.variable]))?;
        let at = self.texel(slot)?;
        self.builder.image_write(loaded, at, texel, None, [])?;
        Ok(())
    }

    /// Pointer to the texel of this slot, for atomic operations.
    pub(crate) fn texel_pointer(
        &mut self,
        declared: ImageVariable,
        slot: Word,
    ) -> Result<Word, BuildError> {
        let (float, at, sample) = (self.scalar(Format::F32), self.texel(slot)?, self.word(0));
        let kind = self.builder.type_pointer(None, StorageClass::Image, float);
        self.value(Op::ImageTexelPointer, kind, ids([declared.variable, at, sample]))
    }

    /// Reads the texel of this slot as a vector of this shape.
    pub(crate) fn read_texel(
        &mut self,
        declared: ImageVariable,
        slot: Word,
        shape: Shape,
    ) -> Result<Word, BuildError> {
        let texel = self.read_whole(declared, slot)?;
        let parts: Vec<Word> = (0..shape.width)
            .map(|index| self.component(TEXEL, texel, index))
            .collect::<Result<_, _>>()?;
        self.compose(shape, &parts)
    }

    /// Reads all four components of the texel of this slot.
    fn read_whole(&mut self, declared: ImageVariable, slot: Word) -> Result<Word, BuildError> {
        let side = declared.image.format.side();
        let loaded = self.value(Op::Load, declared.kind, ids([declared.variable]))?;
        let kind = self.shape(TEXEL);
        Ok(match (declared.image.route, declared.image.code) {
            (Route::Vertex, _) => loaded,
            (Route::TexelBuffer, _) => self.value(Op::ImageFetch, kind, ids([loaded, slot]))?,
            (Route::Sampled, Code::State(_)) => {
                // Outside.
                let single = Shape::scalar(Format::F32);
                let (far, level) = (self.constant(single, 0xc080_0000), self.constant(single, 0));
                let at = self.compose(Shape::vector(Format::F32, 2), &[far, far])?;
                self.value(Op::ImageSampleExplicitLod, kind, at_level(loaded, at, level))?
            }
            (Route::Sampled, Code::ImageSample) => {
                // The sampler takes unnormalised coordinates: the middle of a texel is half way to
                // the next.
                let single = Shape::scalar(Format::F32);
                let (float, half) = (self.scalar(Format::F32), self.constant(single, 0x3f00_0000));
                let [x, y] = self.within(slot, side)?.map(|index| {
                    let number = self.value(Op::ConvertUToF, float, ids([index]))?;
                    self.value(Op::FAdd, float, ids([number, half]))
                });
                let at = self.compose(Shape::vector(Format::F32, 2), &[x?, y?])?;
                let level = self.constant(single, 0);
                self.value(Op::ImageSampleExplicitLod, kind, at_level(loaded, at, level))?
            }
            (Route::Sampled | Route::View, _) => {
                let (place, level) = (self.within(slot, side)?, self.word(0));
                let at = self.compose(Shape::vector(Format::U32, 2), &place)?;
                self.value(Op::ImageFetch, kind, at_level(loaded, at, level))?
            }
            _ => {
                let at = self.texel(slot)?;
                self.value(Op::ImageRead, kind, ids([loaded, at]))?
            }
        })
    }

    /// Column and row of the texel of this slot, where blocks of N in either direction fill the
    /// image row by row. Slots go through a block row by row.
    fn within(&mut self, slot: Word, side: u32) -> Result<[Word; 2], BuildError> {
        if side == 1 {
            return self.place(slot);
        }
        let uint = self.scalar(Format::U32);
        let (side, texels) = (self.word(side), self.word(side * side));
        let block = self.value(Op::UDiv, uint, ids([slot, texels]))?;
        let texel = self.value(Op::UMod, uint, ids([slot, texels]))?;
        let within = [Op::UMod, Op::UDiv].map(|op| self.value(op, uint, ids([texel, side])));
        let mut place = self.place(block)?;
        for (at, within) in place.iter_mut().zip(within) {
            let first = self.value(Op::IMul, uint, ids([*at, side]))?;
            *at = self.value(Op::IAdd, uint, ids([first, within?]))?;
        }
        Ok(place)
    }

    /// The coordinate of this slot: slots fill the image row by row.
    fn texel(&mut self, slot: Word) -> Result<Word, BuildError> {
        let place = self.place(slot)?;
        self.compose(Shape::vector(Format::U32, 2), &place)
    }

    /// Column and row of this slot.
    fn place(&mut self, slot: Word) -> Result<[Word; 2], BuildError> {
        let (uint, width) = (self.scalar(Format::U32), self.word(IMAGE_WIDTH));
        let x = self.value(Op::UMod, uint, ids([slot, width]))?;
        let y = self.value(Op::UDiv, uint, ids([slot, width]))?;
        Ok([x, y])
    }
}

impl ImageVariable {
    /// The variable that an entry point names, for an attachment or attribute.
    pub(crate) fn interface(&self) -> Option<Word> {
        self.image.interface().map(|_| self.variable)
    }
}

impl Image {
    /// Whether a sampler is asked.
    pub const fn is_filtered(&self) -> bool {
        matches!(self.code, Code::ImageSample | Code::State(FixedFunctionState::BorderColor))
    }

    /// Whether it is a depth that a fragment shader puts out.
    pub(crate) fn is_depth_output(&self) -> bool {
        self.route.is_drawn() && self.format.is_depth() && self.state().is_none()
    }

    /// Whether the shader has it. The depth of a fragment that a viewport gives it is none of the
    /// shader's: one that declares `DepthReplacing` and stores no depth leaves it undefined
    /// (Vulkan, Built-In Variables, `FragDepth`).
    pub(crate) fn is_of_shader(&self) -> bool {
        !matches!(
            self.code,
            Code::State(FixedFunctionState::MinDepth | FixedFunctionState::MaxDepth)
        )
    }

    /// What a shader's interface has for a texel.
    fn put_out(&self) -> Shape {
        if self.is_depth_output() { Shape::scalar(Format::F32) } else { TEXEL }
    }

    /// How a shader's interface has the texel, where it is an attachment or attribute.
    fn interface(&self) -> Option<StorageClass> {
        match self.route {
            route if route.is_drawn() => Some(StorageClass::Output),
            Route::Vertex => Some(StorageClass::Input),
            _ => None,
        }
    }
}

/// The name of an image's variable; where it has company it has a number.
fn numbered(name: &str, image: Image) -> String {
    if image.number == 0 { name.to_owned() } else { format!("{name}{}", image.number) }
}

/// Operands of a read at a level of detail.
fn at_level(image: Word, at: Word, level: Word) -> Vec<Operand> {
    let mut operands = ids([image, at]);
    operands.push(Operand::ImageOperands(ImageOperands::LOD));
    operands.push(Operand::IdRef(level));
    operands
}
