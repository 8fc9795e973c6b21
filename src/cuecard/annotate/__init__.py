"""Human work without a screen: writing, checking and reviewing tasks, labelling, agreement, and what results say."""
