"""Audits by samples: events are chosen on one part and counted on another."""
