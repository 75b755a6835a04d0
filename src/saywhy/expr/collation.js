// The order of texts: letters before their marks before capitals, as a reader of English expects;
// and with the letters that other alphabets have of their own.
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

  const isJoined = /^(ss|ae|oe)$/i;  // two letters in one, which is heavier than a mark
  const isKatakana = (character) => character >= "\u30a1" && character <= "\u30f6";

  function computedRank(character) {
    const code = character.codePointAt(0);
    if (code < 32 || code === 127) return 0;
    if (isKatakana(character)) return computedRank(String0.fromCodePoint(code - 0x60));
    if (/\p{L}/u.test(character)) {
      const han = /\p{Script=Han}/u.test(character);
      return (han ? 0x400000 : /\p{Script=Hangul}/u.test(character) ? 0x200000 : 0x100000) + code;
    }
    return /\p{N}/u.test(character) ? 0x90010 + code : 0x10000 + code;
  }

  // The usual marks from the lightest on.
  const MARK_ORDER =
    "\u0301\u0300\u0306\u0302\u030c\u030a\u0308\u030b\u0303\u0307\u0338\u0327\u0328\u0304";

  // Alphabets with letters of their own: each stands behind the letter, or letters, before the colon;
  // small ones only. After "=" stands what counts as the same letter with a mark. Babel does not know them, and neither does the engine.
  const AFTER_Z = "z:å,ä,ö";
  const DANISH = "z:æ,ø,å=aa";
  const SOUTH_SLAVIC = "c:č,ć d:dž,đ l:lj n:nj s:š z:ž";
  const ALPHABETS = {
    az: "c:ç e:ə g:ğ h:x,ı k:q o:ö s:ş u:ü", bs: SOUTH_SLAVIC, cs: "c:č h:ch r:ř s:š z:ž",
    cy: "c:ch d:dd f:ff g:ng l:ll p:ph r:rh t:th", da: DANISH, es: "n:ñ", et: "s:š,z,ž w:õ,ä,ö,ü",
    fi: AFTER_Z, fo: "z:æ,ø,å", hr: SOUTH_SLAVIC, hu: "c:cs d:dz,dzs g:gy l:ly n:ny o:ö=ő s:sz t:ty u:ü=ű z:zs",
    is: "a:á d:ð e:é i:í o:ó u:ú y:ý z:þ,æ,ö,å", lt: "c:č i:y s:š z:ž", lv: "c:č g:ģ i:y k:ķ l:ļ n:ņ s:š z:ž",
    nb: DANISH, nn: DANISH, no: DANISH, pl: "a:ą c:ć e:ę l:ł n:ń o:ó s:ś z:ź,ż", ro: "a:ă,â i:î s:ș t:ț",
    sk: "a:ä c:č h:ch o:ô s:š z:ž", sl: "c:č,ć d:đ s:š z:ž", sq: "c:ç d:dh e:ë g:gj l:ll n:nj r:rr s:sh t:th x:xh z:zh",
    sv: AFTER_Z, tr: "c:ç g:ğ h:ı o:ö s:ş u:ü",
  };
  const tailored = new Map();

  function alphabetOf(language) {
    let found = tailored.get(language);
    if (found !== undefined || ALPHABETS[language] === undefined) return found;
    found = { letters: new Map(), longest: 1 };
    for (const row of ALPHABETS[language].split(" ")) {
      const [before, letters] = row.split(":");
      if (letters === undefined) continue;
      letters.split(",").forEach((spellings, i) => {
        spellings.split("=").forEach((letter, mark) => {
          found.letters.set(letter, [rank(before) + (i + 1) / 16, mark]);
          found.longest = Math.max(found.longest, letter.length);
        });
      });
    }
    tailored.set(language, found);
    return found;
  }

  // The longest letter of the alphabet that the text has at a place: "ch" is one in Czech.
  function letterAt(text, small, at, alphabet) {
    for (let length = alphabet.longest; length > 0; length--) {
      const key = alphabet.letters.get(small.slice(at, at + length));
      if (key !== undefined) return [key, text.slice(at, at + length)];
    }
    return undefined;
  }

  function tailoredKeys(text, alphabet, isTurkic) {
    const base = [];
    const marks = [];
    const capitals = [];
    text = text.normalize("NFC");
    // By code units, so that places in both are the same.
    const small = [...text].map((letter) => {
      const lower = isTurkic && letter === "I" ? "ı" : isTurkic && letter === "İ" ? "i" : letter.toLowerCase();
      return lower.length === letter.length ? lower : letter;
    }).join("");
    for (let at = 0; at < text.length;) {
      const own = letterAt(text, small, at, alphabet);
      const written = own === undefined ? String.fromCodePoint(text.codePointAt(at)) : own[1];
      if (own !== undefined) {
        base.push(own[0][0]);
        marks.push(own[0][1]);
        const smalls = small.slice(at, at + written.length);
        capitals.push(smalls === written ? 0 : written.slice(1) === smalls.slice(1) ? 1 : 2);
      } else {
        const [keys, more, sizes] = keysOf(isTurkic && written === "İ" ? "I" : written);
        base.push(...keys);
        if (keys.length === 0 && marks.length > 0) marks[marks.length - 1] += written.codePointAt(0);
        marks.push(...more);
        capitals.push(...sizes);
      }
      at += written.length;
    }
    return [base, marks, capitals];
  }

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
        marks.push(isJoined.test(spelled ?? "") && character === spelled[0] ? 0x10000 : 0);
        capitals.push(small !== character ? 1 : spelled !== undefined || isKatakana(character) ? 0.5 : 0);
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

  const isMark = /[^\p{L}\p{N}\p{M}\p{S}]/gu;

  function compareTexts(one, other, options) {
    if (one === other) return 0;
    if (options.ignorePunctuation) {
      const plain = { ...options, ignorePunctuation: false };
      return compareTexts(one.replace(isMark, ""), other.replace(isMark, ""), plain);
    }
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
    const { alphabet, isTurkic } = options;
    if (alphabet === undefined && isAscii.test(one) && isAscii.test(other)) {
      const hasCase = sensitivity !== "base" && sensitivity !== "accent";
      const found = compareAscii(one, other, false);
      if (found !== 0 || !hasCase) return found;
      const capitals = compareAscii(one, other, true);
      return options.caseFirst === "upper" ? -capitals : capitals;
    }
    const keys = (text) => (alphabet === undefined ? keysOf(text) : tailoredKeys(text, alphabet, isTurkic));
    const [base, marks, capitals] = keys(one);
    const [base2, marks2, capitals2] = keys(other);
    let found = firstDifference(base, base2);
    if (found === 0 && sensitivity !== "base" && sensitivity !== "case") {
      found = firstDifference(marks, marks2);
    }
    if (found === 0 && sensitivity !== "base" && sensitivity !== "accent") {
      const isUpperFirst = options.caseFirst === "upper";
      const inOrder = (sizes) => (isUpperFirst ? sizes.map((size) => (size >= 1 ? -size : size)) : sizes);
      found = firstDifference(inOrder(capitals), inOrder(capitals2));
    }
    return found;
  }

  // The options with what the language, and what follows `-u-` in its tag, bring along.
  function settled(tags, options) {
    const tag = (tags[0] ?? "en").toLowerCase();
    const language = tag.split("-")[0];
    const made = { ...options, alphabet: alphabetOf(language), isTurkic: language === "tr" || language === "az" };
    const [, extension = ""] = tag.split("-u-");
    if (made.numeric === undefined && /(^|-)kn(?!-false)/.test(extension)) made.numeric = true;
    const first = /(?:^|-)kf-(upper|lower)/.exec(extension);
    if (made.caseFirst === undefined) made.caseFirst = first === null ? (language === "da" ? "upper" : undefined) : first[1];
    return made;
  }

  return { compare: compareTexts, options: COLLATOR_OPTIONS, settled };
})
