"""Why a sequence is put into its class: exact evidence, importance and names."""
