"""Spots and ranges in the formats of PioSOLVER, TexasSolver, wasm-postflop, desktop-postflop and GTO+."""
