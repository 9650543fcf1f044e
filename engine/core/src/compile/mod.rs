//! From trees to a plan: sources, names, types, expansion. Everything that is wrong with a text is found here.
