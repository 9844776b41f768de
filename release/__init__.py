"""The shell: command line, files, keys, manifests, verification and reports."""
