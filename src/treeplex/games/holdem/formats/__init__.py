"""Spots and ranges as other programs write them: PioSOLVER, TexasSolver, wasm-postflop, desktop-postflop, GTO+."""
