//! Thread code of the message library.
