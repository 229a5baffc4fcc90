//! The storage image of an image kernel: the conversion between vector and texel is the device's.

use rspirv::dr::Operand;
use rspirv::spirv::{Decoration, Dim, ImageFormat, Op, StorageClass, Word};

use crate::emitter::{Emitter, ids, one};
use crate::error::BuildError;
use crate::format::Format;
use crate::kernel::Shape;
use crate::plan::{IMAGE_BINDING, IMAGE_WIDTH, Image};

const TEXEL: Shape = Shape::vector(Format::F32, 4);

/// SPIR-V's name of a packed format; `None` for formats that no image has.
pub(crate) fn image_format(format: Format) -> Option<ImageFormat> {
    match format {
        Format::B10g11r11 => Some(ImageFormat::R11fG11fB10f),
        _ => None,
    }
}

impl Emitter {
    /// Declares the image. Gives the variable.
    pub(crate) fn declare_image(&mut self, image: Image) -> Result<Word, BuildError> {
        let format = image_format(image.format).ok_or(BuildError::NoImageFormat { format: image.format })?;
        let kind = self.image_type(format);
        let pointer = self.builder.type_pointer(None, StorageClass::UniformConstant, kind);
        let variable = self.builder.variable(pointer, None, StorageClass::UniformConstant, None);
        self.builder.name(variable, "image");
        self.bind(variable, IMAGE_BINDING);
        let access = if image.written { Decoration::NonReadable } else { Decoration::NonWritable };
        self.builder.decorate(variable, access, []);
        Ok(variable)
    }

    fn image_type(&mut self, format: ImageFormat) -> Word {
        let float = self.scalar(Format::F32);
        // Neither depth, arrayed nor multisampled; 2: used without a sampler.
        self.builder.type_image(float, Dim::Dim2D, 0, 0, 0, 2, format, None)
    }

    /// Writes a vector to the texel of this slot. Components that the format lacks are those of GLSL: 0, 0, 1.
    pub(crate) fn write_texel(
        &mut self,
        image: Image,
        variable: Word,
        slot: Word,
        shape: Shape,
        value: Word,
    ) -> Result<(), BuildError> {
        let (loaded, at) = self.texel(image, variable, slot)?;
        let scalar = Shape::scalar(shape.format);
        let mut parts = Vec::new();
        for index in 0..TEXEL.width {
            parts.push(match (index < shape.width, index, shape.format.float()) {
                (true, ..) => self.component(shape, value, index)?,
                (false, 3, Some(layout)) => self.constant(scalar, one(layout)),
                _ => self.constant(scalar, 0),
            });
        }
        let texel = self.compose(TEXEL, &parts)?;
        self.builder.image_write(loaded, at, texel, None, [])?;
        Ok(())
    }

    /// Reads the texel of this slot as a vector of this shape.
    pub(crate) fn read_texel(
        &mut self,
        image: Image,
        variable: Word,
        slot: Word,
        shape: Shape,
    ) -> Result<Word, BuildError> {
        let (loaded, at) = self.texel(image, variable, slot)?;
        let kind = self.shape(TEXEL);
        let texel = self.value(Op::ImageRead, kind, ids([loaded, at]))?;
        let parts = (0..shape.width).map(|index| self.component(TEXEL, texel, index)).collect::<Result<Vec<_>, _>>()?;
        self.compose(shape, &parts)
    }

    /// The image as loaded, and the coordinate of this slot: slots fill it row by row.
    fn texel(&mut self, image: Image, variable: Word, slot: Word) -> Result<(Word, Word), BuildError> {
        let format = image_format(image.format).ok_or(BuildError::NoImageFormat { format: image.format })?;
        let kind = self.image_type(format);
        let loaded = self.value(Op::Load, kind, vec![Operand::IdRef(variable)])?;
        let (uint, width) = (self.scalar(Format::U32), self.word(IMAGE_WIDTH));
        let x = self.value(Op::UMod, uint, ids([slot, width]))?;
        let y = self.value(Op::UDiv, uint, ids([slot, width]))?;
        let at = self.compose(Shape::vector(Format::U32, 2), &[x, y])?;
        Ok((loaded, at))
    }
}
