"""Write the example files of docs/own-task.md into the folder reviews of the working directory."""

import csv
import random
from pathlib import Path

rng = random.Random(0)
THINGS = ["kettle", "lamp", "chair", "phone", "fan", "bag", "desk", "clock", "radio", "mixer", "heater", "toaster"]
TRAITS = ["loud", "bright", "heavy", "cheap", "sturdy", "small", "red", "warm", "fast", "clean", "soft", "new"]
OPENINGS = ["", "I bought it in May. ", "It came on Monday. ", "This was a gift. ", "My second order here. ", "Well. "]
ANSWERS = {
    "agrees": ["The {a} is {b}.", "Yes, the {a} is really {b}.", "My {a} is very {b}, as I like it."],
    "denies": ["The {a} is not {b}.", "The {a} is anything but {b}.", "It is no {b} {a}."],
    "silent": ["The {a} works.", "I gave it to my sister.", "The {c} is {d}.", "The box was {d}."],
}
TRICKY = [  # kind, label, review
    ("hearsay", "unsaid", "My neighbour says that her {a} is {b}. Mine is still in its box."),
    ("hope", "unsaid", "I had hoped that the {a} would be {b}."),
    ("direct", "said", "I can tell you that the {a} is {b}."),
    ("negated", "said", "Nobody would say that the {a} is {b}; it is not."),
]


def pair(review):
    (a, c), (b, d) = rng.sample(THINGS, 2), rng.sample(TRAITS, 2)
    return rng.choice(OPENINGS) + review.format(a=a, b=b, c=c, d=d), f"Is the {a} {b}?"


def answered(count):
    for _ in range(count):
        answer = rng.choice(list(ANSWERS))
        # One silent review in twenty is hearsay, as in tricky.csv.
        tricky = answer == "silent" and rng.random() < 0.05
        yield *pair(TRICKY[0][2] if tricky else rng.choice(ANSWERS[answer])), answer


def write(name, header, rows):
    with open(Path("reviews") / name, "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([header, *rows])


Path("reviews").mkdir(exist_ok=True)
unusable = [("The fan is new.", "Is the fan new?", "")]
write("train.csv", ["review", "question", "answer"], [*answered(3000), *unusable])
write("dev.csv", ["review", "question", "answer"], answered(300))
tricky = [(*pair(review), label, kind) for kind, label, review in TRICKY for _ in range(60)]
write("tricky.csv", ["review", "question", "label", "kind"], tricky)
