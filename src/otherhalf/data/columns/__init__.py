"""Columns of every kind: a user's node table becomes a matrix of numbers for the models.

    table ──kinds──▶ number, category, boolean, date, text, tags ──learn──▶ ColumnEncoding ──apply──▶ Encoded
                     constant, id, empty, vector: left out, and said so

:mod:`~otherhalf.data.columns.cells` reads the cells of a column once: gaps, distinct texts, numbers.
:mod:`~otherhalf.data.columns.kinds` infers the kind from the cells.
One file per kind says what becomes of it.
:mod:`~otherhalf.data.columns.encoding` puts the columns together, and
:mod:`~otherhalf.data.columns.leaks` looks for columns that give the label away.

Nothing here reads a label, except the check for leaks. What is learned depends neither on the order of rows
nor on that of columns, and a row becomes the same bits in a call with one row and in a call with a million.

skrub's ``TableVectorizer`` does similar work and is the model for much of this: kinds from the cells, one-hot
columns for few values, words with an SVD for text. Its defaults read no label either. It is not used for four
reasons. A fitted one can be kept as a pickle only, and loading a pickle can run any code; a model folder here
has JSON and safetensors. Its defaults leave numbers unscaled and their gaps NaN, which trees take and neural
networks do not. It has no columns for lists of tags. And it would be one more dependency for what pandas and
scikit-learn already do.
"""
