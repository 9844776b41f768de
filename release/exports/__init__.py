"""What a release looks like to catalogues and portals: made from its public files, never written into it."""

from release.exports.writing import FORMATS, ExportFormat, export_release

__all__ = ["FORMATS", "ExportFormat", "export_release"]
