"""Results on disk: blocks of runs, fingerprints of their sources, reasons for missing runs."""
