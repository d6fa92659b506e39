//! Layer 1: facts become findings; pure, one rule per file.
