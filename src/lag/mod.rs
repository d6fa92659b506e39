//! Layer 1: readings from samples; one file per method, then fusion and verdict; pure.
