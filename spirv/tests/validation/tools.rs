//! SPIRV-Tools' validator and assembler, through its C interface (`spirv-tools/libspirv.h`).

use std::ffi::CStr;
use std::ptr::null_mut;

use spirv_tools_sys::assembler::{self, BinaryOptions};
use spirv_tools_sys::diagnostics::{Diagnostic, diagnostic_destroy};
use spirv_tools_sys::shared::{self, Binary, SpirvResult, TargetEnv, ToolContext};
use spirv_tools_sys::val;

/// What modules are validated, and texts assembled, for.
pub struct Tools(*mut ToolContext);

impl Tools {
    pub fn new(environment: TargetEnv) -> Tools {
        // SAFETY: any environment will do.
        let context = unsafe { shared::context_create(environment) };
        assert!(!context.is_null(), "no context for {environment:?}");
        Tools(context)
    }

    /// Says why a module is not valid.
    pub fn validate(&self, words: &[u32]) -> Result<(), String> {
        let binary = Binary { code: words.as_ptr(), size: words.len() };
        let mut diagnostic = null_mut();
        // SAFETY: the context lives as long as `self`, the words as long as the call.
        let result = unsafe { val::validate(self.0, &raw const binary, &raw mut diagnostic) };
        said(result, diagnostic)
    }

    /// The words of a text, in which numbers are numbers of ids; or why there are none.
    pub fn assemble(&self, text: &str) -> Result<Vec<u32>, String> {
        let (mut binary, mut diagnostic) = (null_mut(), null_mut());
        let options = BinaryOptions::PreserveNumberIds as u32;
        // SAFETY: the text comes with its length.
        let result = unsafe {
            let (text, size) = (text.as_ptr().cast(), text.len());
            assembler::assemble(self.0, text, size, options, &raw mut binary, &raw mut diagnostic)
        };
        said(result, diagnostic)?;
        // SAFETY: where nothing failed there is a binary; it is this function's.
        unsafe {
            let words = std::slice::from_raw_parts((*binary).code, (*binary).size).to_vec();
            shared::binary_destroy(binary);
            Ok(words)
        }
    }
}

impl Drop for Tools {
    fn drop(&mut self) {
        // SAFETY: nothing uses it any more.
        unsafe { shared::context_destroy(self.0) }
    }
}

/// What a call came to; its diagnostic is gone afterwards.
fn said(result: SpirvResult, diagnostic: *mut Diagnostic) -> Result<(), String> {
    let succeeded = matches!(result, SpirvResult::Success);
    if diagnostic.is_null() {
        return if succeeded { Ok(()) } else { Err("nothing is said of it".to_owned()) };
    }
    // SAFETY: a diagnostic holds a text that ends with 0, and goes with it.
    unsafe {
        let error = CStr::from_ptr((*diagnostic).error).to_string_lossy().into_owned();
        diagnostic_destroy(diagnostic);
        if succeeded { Ok(()) } else { Err(error) }
    }
}
