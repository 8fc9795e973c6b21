"""The exam of a judge: inputs made from gold by rule, of which the right verdict is known or must not move."""
