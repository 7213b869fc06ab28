"""Sound files -> sequences of MFCC."""
