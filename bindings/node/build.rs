//! What the linker is told of a module for Node.

fn main() {
    napi_build::setup();
}
