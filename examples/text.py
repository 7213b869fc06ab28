"""
Text as sequences
=================

Which language is a sentence in, by its characters and by its words?

Characters need nothing: a string is a sequence. Words come in through a long table, one line for
each word. The sentences say the same things in each language, so that only the language tells
them apart.
"""

import warnings

import numpy as np
from sklearn.model_selection import StratifiedKFold, cross_val_score

import mvdfq

SENTENCES = {
    "English": """The train leaves at seven in the morning. We have no bread in the house.
        My sister lives in a small town by the sea. Can you tell me where the station is?
        The children are playing in the garden. He read the letter and said nothing.
        It rained all day and the streets were empty. I would like a cup of coffee with milk.
        She opened the window because it was hot. They have been working here for ten years.
        The book that you gave me is very good. Tomorrow we will go to the mountains.
        In winter the days are short and the nights are long. Who has taken my old hat?
        There is a cat on the roof of the church.""",
    "German": """Der Zug fährt um sieben Uhr am Morgen ab. Wir haben kein Brot im Haus.
        Meine Schwester wohnt in einer kleinen Stadt am Meer. Kannst du mir sagen, wo der Bahnhof
        ist? Die Kinder spielen im Garten. Er las den Brief und sagte nichts.
        Es regnete den ganzen Tag und die Straßen waren leer. Ich möchte eine Tasse Kaffee mit
        Milch. Sie öffnete das Fenster, weil es heiß war. Sie arbeiten hier seit zehn Jahren.
        Das Buch, das du mir gegeben hast, ist sehr gut. Morgen gehen wir in die Berge.
        Im Winter sind die Tage kurz und die Nächte lang. Wer hat meinen alten Hut genommen?
        Auf dem Dach der Kirche ist eine Katze.""",
    "French": """Le train part à sept heures du matin. Nous n'avons pas de pain à la maison.
        Ma sœur habite dans une petite ville au bord de la mer. Peux-tu me dire où est la gare?
        Les enfants jouent dans le jardin. Il lut la lettre et ne dit rien.
        Il a plu toute la journée et les rues étaient vides. Je voudrais une tasse de café au
        lait. Elle ouvrit la fenêtre parce qu'il faisait chaud. Ils travaillent ici depuis dix ans.
        Le livre que tu m'as donné est très bon. Demain nous irons à la montagne.
        En hiver les jours sont courts et les nuits sont longues. Qui a pris mon vieux chapeau?
        Il y a un chat sur le toit de l'église.""",
    "Spanish": """El tren sale a las siete de la mañana. No tenemos pan en la casa.
        Mi hermana vive en una pequeña ciudad junto al mar. ¿Puedes decirme dónde está la estación?
        Los niños juegan en el jardín. Él leyó la carta y no dijo nada.
        Llovió todo el día y las calles estaban vacías. Quisiera una taza de café con leche.
        Ella abrió la ventana porque hacía calor. Trabajan aquí desde hace diez años.
        El libro que me diste es muy bueno. Mañana iremos a las montañas.
        En invierno los días son cortos y las noches son largas. ¿Quién ha tomado mi viejo
        sombrero? Hay un gato en el tejado de la iglesia.""",
}
LINE = "{:<12}{:>12}{:>12}"


def sentences():
    """Return the sentences and their languages."""
    X, y = [], []
    for language, text in SENTENCES.items():
        text = " ".join(text.split()).replace("?", ".")
        parts = [part.strip(" ¿").lower() for part in text.split(".")]
        X += filter(None, parts)
        y += [language] * (len(X) - len(y))
    return X, np.array(y)


def as_words(texts):
    """Read texts as sequences of words, through a table with a line for each word."""
    lines = [(i, t, word) for i, text in enumerate(texts) for t, word in enumerate(text.split())]
    ids, times, words = zip(*lines, strict=True)
    table = {"id": ids, "time": times, "word": words}
    # To have a code for words of the test texts does no harm: no training text has them.
    X, _, _ = mvdfq.from_long_table(table, categories={"word": sorted(set(words))})
    return X


def line_of(name, X, y, longest):
    """Cross-validate on runs of up to `longest` symbols; return the line of the table."""
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    with warnings.catch_warnings():
        # A test text holds words that no training text has, and a few test texts hold no others.
        warnings.simplefilter("ignore")
        scores = cross_val_score(classifier(longest), X, y, cv=folds)
    return LINE.format(name, f"1 to {longest}", f"{100 * scores.mean():.1f}")


def classifier(longest):
    """Count all runs of up to `longest` symbols, wherever in the text they are."""
    runs = [tuple(range(length)) for length in range(1, longest + 1)]
    return mvdfq.SequenceClassifier(kernel=mvdfq.Words(runs), pyramid=1)


def main():
    """Print how many sentences are recognised, and why one of them is."""
    X, y = sentences()
    n_classes = len(SENTENCES)
    print(
        f"{len(X)} sentences in {n_classes} languages, five-fold. Chance: {100 / n_classes:.0f} %."
    )
    print()
    print(LINE.format("read as", "in runs of", "accuracy %"))
    print(line_of("characters", X, y, longest=3))
    print(line_of("words", as_words(X), y, longest=2))
    print()
    explanation = classifier(3).fit(X, y).explain("das ist die neue schule")
    print(f"'das ist die neue schule' is {explanation.predicted}; what spoke for it and against:")
    for reason in explanation.top(3):
        print(f"  {reason}")


if __name__ == "__main__":
    main()
