// The order of texts that a reader of English expects: letters before their marks before capitals.
(function () {
  "use strict";

  const String0 = String;

  // Letters that are no letter with a mark, as far as Latin writing goes.
  const SPELLED = {
    ß: "ss", æ: "ae", Æ: "AE", œ: "oe", Œ: "OE", ø: "o\u0338", Ø: "O\u0338", ł: "l\u0335",
    Ł: "L\u0335", đ: "d\u0335", Đ: "D\u0335", ı: "i", þ: "th", Þ: "TH", ð: "d\u0336", "²": "2", "³": "3",
    "¹": "1", "½": "1", "µ": "μ", "…": ".",
  };
  const MARKS = "\t\n\v\f\r\u0085\u2028\u2029 \u00a0_-‐–—,;:!¡?¿.'‘’‚\"“”„«»()[]{}§¶@*/\\&#%‰†‡•`´˜^¯¨°©®+±÷×<=>|¦~¬";
  const MONEY = "¤¢$£¥€";
  const rankOf = new Map();
  for (const [start, text] of [[0x100, MARKS], [0x80000, MONEY], [0x90000, "0123456789"]]) {
    let at = start;
    for (const character of text) rankOf.set(character, at++);
  }

  function rank(character) {
    let found = rankOf.get(character);
    if (found === undefined) {
      found = computedRank(character);
      rankOf.set(character, found);
    }
    return found;
  }

  function computedRank(character) {
    const code = character.codePointAt(0);
    if (code < 32 || code === 127) return 0;
    if (/\p{L}/u.test(character)) {
      const han = /\p{Script=Han}/u.test(character);
      return (han ? 0x400000 : /\p{Script=Hangul}/u.test(character) ? 0x200000 : 0x100000) + code;
    }
    return /\p{N}/u.test(character) ? 0x90010 + code : 0x10000 + code;
  }

  // The usual marks from the lightest on.
  const MARK_ORDER =
    "\u0301\u0300\u0306\u0302\u030c\u030a\u0308\u030b\u0303\u0307\u0338\u0327\u0328\u0304";

  // Letters first, then marks on them, then capitals: three passes over the same keys.
  function keysOf(text) {
    const base = [];
    const marks = [];
    const capitals = [];
    for (const written of text) {
      const spelled = SPELLED[written];
      for (const character of (spelled ?? written).normalize("NFD")) {
        if (/\p{M}/u.test(character)) {
          const known = MARK_ORDER.indexOf(character);
          const weight = known < 0 ? 100 + character.codePointAt(0) : known + 1;
          if (base.length > 0) marks[base.length - 1] = marks[base.length - 1] * 0x20000 + weight;
          continue;
        }
        const small = character.toLowerCase();
        const key = rank(small);
        if (key === 0) continue;
        base.push(key);
        marks.push(0);
        capitals.push(small === character ? (spelled === undefined ? 0 : 0.5) : 1);
      }
    }
    return [base, marks, capitals];
  }

  function firstDifference(one, other) {
    const length = Math.min(one.length, other.length);
    for (let i = 0; i < length; i++) if (one[i] !== other[i]) return one[i] < other[i] ? -1 : 1;
    return one.length === other.length ? 0 : one.length < other.length ? -1 : 1;
  }

  // Most texts that are sorted have no letter outside of ASCII; this is ten times as fast.
  const isAscii = /^[\x20-\x7e]*$/;
  const asciiRanks = [];
  for (let code = 0; code < 128; code++) asciiRanks.push(rank(String0.fromCharCode(code).toLowerCase()));

  function compareAscii(one, other, hasCase) {
    const length = Math.min(one.length, other.length);
    let capitals = 0;
    for (let i = 0; i < length; i++) {
      const left = one.charCodeAt(i);
      const right = other.charCodeAt(i);
      if (left === right) continue;
      const difference = asciiRanks[left] - asciiRanks[right];
      if (difference !== 0) return difference < 0 ? -1 : 1;
      if (capitals === 0) capitals = left > right ? -1 : 1;
    }
    if (one.length !== other.length) return one.length < other.length ? -1 : 1;
    return hasCase ? capitals : 0;
  }

  const COLLATOR_OPTIONS = {
    sensitivity: ["base", "accent", "case", "variant"], numeric: [true, false], usage: ["sort", "search"],
    ignorePunctuation: [false], caseFirst: ["false", "lower", "upper"], localeMatcher: [],
  };

  function pieces(text) {
    return text.match(/\d+|\D+/g) ?? [];
  }

  function compareNumbers(one, other) {
    const a = one.replace(/^0+/, "");
    const b = other.replace(/^0+/, "");
    if (a.length !== b.length) return a.length < b.length ? -1 : 1;
    return a === b ? 0 : a < b ? -1 : 1;
  }

  function compareTexts(one, other, options) {
    if (one === other) return 0;
    if (options.numeric) {
      const left = pieces(one);
      const right = pieces(other);
      for (let i = 0; i < Math.min(left.length, right.length); i++) {
        const areNumbers = /^\d/.test(left[i]) && /^\d/.test(right[i]);
        const found = areNumbers ? compareNumbers(left[i], right[i])
          : compareTexts(left[i], right[i], { ...options, numeric: false });
        if (found !== 0) return found;
      }
      return Math.sign(left.length - right.length);
    }
    const sensitivity = options.sensitivity ?? "variant";
    if (isAscii.test(one) && isAscii.test(other)) {
      const hasCase = sensitivity !== "base" && sensitivity !== "accent";
      const found = compareAscii(one, other, false);
      if (found !== 0 || !hasCase) return found;
      const capitals = compareAscii(one, other, true);
      return options.caseFirst === "upper" ? -capitals : capitals;
    }
    const [base, marks, capitals] = keysOf(one);
    const [base2, marks2, capitals2] = keysOf(other);
    let found = firstDifference(base, base2);
    if (found === 0 && sensitivity !== "base" && sensitivity !== "case") {
      found = firstDifference(marks, marks2);
    }
    if (found === 0 && sensitivity !== "base" && sensitivity !== "accent") {
      found = firstDifference(capitals, capitals2);
      if (options.caseFirst === "upper") found = -found;
    }
    return found;
  }

  return { compare: compareTexts, options: COLLATOR_OPTIONS };
})
