// Questions about other languages, which Python answers between two rounds of an evaluation.
//
// An answer follows from its question alone, so those that are known stay for later evaluations;
// nothing else of an evaluation does. A question without an answer makes the round worthless: its
// result is the questions, as `kit` hands them out, and the next round begins with the answers. But
// the round goes on for a while with made-up answers, for the sake of the questions still to come:
// a list of a hundred prices would take a hundred rounds otherwise.
(function () {
  "use strict";

  const { apply } = Reflect;
  const { parse, stringify } = JSON;
  const { get, set, clear } = Map.prototype;
  const STOP = Object.freeze(Object.create(null));
  const MOST = 1000000;  // characters that are kept
  const MOST_GUESSES = 2000;
  const MOST_AT_ONCE = 250;
  const known = new Map();
  let kept = 0;
  let isOpen = false;
  let mayGuess = false;
  let guesses = 0;
  let wanted = [];
  let isWanted = new Map();

  function reset() {
    wanted = [];
    isWanted = new Map();
    guesses = 0;
  }

  // A round begins: the first with "", or "-" when it must not guess, the others with answers.
  function hear(json) {
    reset();
    isOpen = true;
    if (json.length < 2) {
      mayGuess = json === "";
      if (kept < MOST) return;
      apply(clear, known, []);
      kept = 0;
      return;
    }
    const told = parse(json);
    for (let i = 0; i < told.length; i++) {
      apply(set, known, [told[i][0], told[i][1]]);
      kept += told[i][0].length + told[i][1].length;
    }
  }

  function hush() {
    isOpen = false;
    if (wanted.length > 0) reset();
  }

  // Where the text gave no reason to expect a question, the program is written anew: \x01n.
  function take() {
    const told = isOpen ? "\x01i" + stringify(wanted) : "\x01n";
    reset();
    return told.length > 200 ? told.slice(0) : told;
  }

  // Something of the form of an answer. What is made of it is thrown away.
  function guess([kind, , , ...values]) {
    if (kind === "supported" || kind === "canonical" || kind === "ListFormat") return ["", []];
    if (values.length === 0) return ["", {}];
    return ["", kind === "PluralRules" ? "other" : kind === "DisplayNames" ? "" : [["literal", "0"]]];
  }

  function ask(...question) {
    const text = stringify(question);
    const found = apply(get, known, [text]);
    if (found !== undefined) return parse(found);
    if (apply(get, isWanted, [text]) === undefined) {
      apply(set, isWanted, [text, true]);
      wanted[wanted.length] = text;
    }
    if (!isOpen || !mayGuess || wanted.length >= MOST_AT_ONCE || ++guesses > MOST_GUESSES) throw STOP;
    return guess(question);
  }

  return Object.freeze({ hear, hush, take, ask, isWaiting: () => wanted.length > 0 });
})
