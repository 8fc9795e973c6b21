"""Tables of results as text of other programs: HTML, LaTeX, CSV. Markdown is in `labelling.comparison.markdown`.

`html.as_html(sheet)`, `latex.as_latex(sheet)`, `csv_text.as_csv(sheets)`: pure functions of Sheets.
"""
