"""dpcurator: a trusted curator for differential privacy."""
