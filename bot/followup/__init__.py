"""followup answers what is asked after a verdict, from the case first."""
