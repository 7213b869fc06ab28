"""Why a sequence is put into its class: exact evidence, importance, names and pictures."""

from mvdfq.explain import figures as figures
