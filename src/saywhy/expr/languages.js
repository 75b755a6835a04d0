// Intl for languages, zones and options that intl.js does not know: what may be asked is settled
// here, as Node does it, and the texts come from Python, where Babel knows the languages.
(function (ask) {
  "use strict";

  const { apply } = Reflect;
  const { isArray } = Array;
  const String0 = String;
  const Number0 = Number;
  const RangeError0 = RangeError;
  const TypeError0 = TypeError;
  const ERRORS = { RangeError, TypeError };
  const matches = RegExp.prototype.test;

  // ------------------------------------------------------------------ locales

  const TAG = new RegExp(
    "^([a-z]{2,3}|[a-z]{5,8})(-[a-z]{4})?(-([a-z]{2}|\\d{3}))?(-([a-z\\d]{5,8}|\\d[a-z\\d]{3}))*"
    + "(-[a-wy-z\\d](-[a-z\\d]{2,8})+)*(-x(-[a-z\\d]{1,8})+)?$", "i");
  const MOST_LOCALES = 20;

  function tagOf(locale) {
    if (typeof locale !== "string" && (typeof locale !== "object" || locale === null)) {
      throw new TypeError0("Incorrect locale information provided: a language is a text");
    }
    const name = String0(locale);
    if (name.length > 100 || !apply(matches, TAG, [name])) {
      const hint = name.includes("_") ? `; write it with "-", as in "pt-BR"` : "";
      throw new RangeError0(`Incorrect locale information provided: "${name.slice(0, 40)}"${hint}`);
    }
    return name;
  }

  function localesOf(locales) {
    if (locales === undefined) return [];
    if (locales === null) throw new TypeError0("Cannot convert undefined or null to object");
    if (typeof locales === "string") return [tagOf(locales)];
    if (!isArray(locales)) return [];
    return locales.slice(0, MOST_LOCALES).map(tagOf);
  }

  // ------------------------------------------------------------------ options

  const STYLES = ["full", "long", "medium", "short"];
  const WORDS = ["narrow", "short", "long"];
  const LENGTHS = ["2-digit", "numeric"];
  const MATCHER = ["lookup", "best fit"];
  const WHETHER = "boolean";
  const TEXT = "text";
  const digits = (low, high) => [low, high];
  const DIGITS = {
    minimumIntegerDigits: digits(1, 21), minimumFractionDigits: digits(0, 100),
    maximumFractionDigits: digits(0, 100), minimumSignificantDigits: digits(1, 21),
    maximumSignificantDigits: digits(1, 21),
    roundingMode: [
      "ceil", "floor", "expand", "trunc", "halfCeil", "halfFloor", "halfExpand", "halfTrunc", "halfEven",
    ],
    roundingPriority: ["auto", "morePrecision", "lessPrecision"], roundingIncrement: digits(1, 5000),
    trailingZeroDisplay: ["auto", "stripIfInteger"],
  };
  const OPTIONS = {
    NumberFormat: {
      localeMatcher: MATCHER, numberingSystem: TEXT,
      style: ["decimal", "percent", "currency", "unit"], currency: TEXT,
      currencyDisplay: ["code", "symbol", "narrowSymbol", "name"],
      currencySign: ["standard", "accounting"], unit: TEXT, unitDisplay: ["short", "narrow", "long"],
      notation: ["standard", "scientific", "engineering", "compact"], compactDisplay: ["short", "long"],
      useGrouping: "grouping", signDisplay: ["auto", "never", "always", "exceptZero", "negative"],
      ...DIGITS,
    },
    DateTimeFormat: {
      localeMatcher: MATCHER, calendar: TEXT, numberingSystem: TEXT, hour12: WHETHER,
      hourCycle: ["h11", "h12", "h23", "h24"], timeZone: TEXT, weekday: WORDS, era: WORDS,
      year: LENGTHS, month: [...LENGTHS, ...WORDS], day: LENGTHS, dayPeriod: WORDS, hour: LENGTHS,
      minute: LENGTHS, second: LENGTHS, fractionalSecondDigits: digits(1, 3),
      timeZoneName: ["short", "long", "shortOffset", "longOffset", "shortGeneric", "longGeneric"],
      formatMatcher: ["basic", "best fit"], dateStyle: STYLES, timeStyle: STYLES,
    },
    PluralRules: {
      localeMatcher: MATCHER, type: ["cardinal", "ordinal"],
      notation: ["standard", "scientific", "engineering", "compact"], compactDisplay: ["short", "long"],
      ...DIGITS,
    },
    ListFormat: {
      localeMatcher: MATCHER, type: ["conjunction", "disjunction", "unit"], style: ["long", "short", "narrow"],
    },
    RelativeTimeFormat: {
      localeMatcher: MATCHER, numberingSystem: TEXT, style: ["long", "short", "narrow"],
      numeric: ["always", "auto"],
    },
    DisplayNames: {
      localeMatcher: MATCHER, style: ["narrow", "short", "long"],
      type: ["language", "region", "script", "currency"], fallback: ["code", "none"],
      languageDisplay: ["dialect", "standard"],
    },
    Collator: {
      localeMatcher: MATCHER, usage: ["sort", "search"],
      sensitivity: ["base", "accent", "case", "variant"], ignorePunctuation: WHETHER,
      numeric: WHETHER, caseFirst: ["upper", "lower", "false"], collation: TEXT,
    },
  };

  function settled(kind, name, form, value) {
    if (form === WHETHER) return Boolean(value);
    if (form === "grouping") {
      if (value === true || value === "true" || value === "false") return value === true ? "always" : "auto";
      if (!value) return "false";
      form = ["min2", "auto", "always"];
    }
    if (isArray(form) && typeof form[0] === "number") {
      const number = Math.floor(Number0(value));
      if (!(number >= form[0] && number <= form[1])) throw new RangeError0(`${name} value is out of range.`);
      return number;
    }
    const text = String0(value);
    if (form === TEXT) {
      if (text.length > 100) throw new RangeError0(`Value ${text.slice(0, 40)}… out of range for ${name}`);
      return text;
    }
    if (!form.includes(text)) {
      throw new RangeError0(
        `Value ${text.slice(0, 40)} out of range for Intl.${kind} options property ${name}`);
    }
    return text;
  }

  function optionsOf(kind, given) {
    const made = {};
    if (given === undefined) return made;
    if (given === null) throw new TypeError0("Cannot convert undefined or null to object");
    const known = OPTIONS[kind];
    for (const name of Object.keys(known)) {
      const value = given[name];
      if (value !== undefined) made[name] = settled(kind, name, known[name], value);
    }
    return made;
  }

  // ------------------------------------------------------------------ answers

  function asked(kind, locales, options, ...rest) {
    const [error, answer] = ask(kind, locales, options, ...rest);
    if (error !== "") throw new (ERRORS[error] ?? RangeError0)(answer);
    return answer;
  }

  // A format: `parts` of one value as pairs of kind and text, and how the options were understood.
  function format(kind, locales, given, extra) {
    const tags = localesOf(locales);
    const options = { ...optionsOf(kind, given), ...extra };
    return {
      parts: (...values) => asked(kind, tags, options, ...values),
      resolved: () => asked(kind, tags, options),
    };
  }

  const joined = (parts) => parts.map((part) => part[1]).join("");
  const shown = (parts) => parts.map(([type, value, unit]) => (
    unit === undefined ? { type, value } : { type, value, unit }));

  // The digits of a number as Python reads them.
  function written(value) {
    if (typeof value === "bigint") {
      const text = String0(value);
      if (text.length > 1000) throw new RangeError0("a BigInt of more than 1000 digits is too long here");
      return text;
    }
    return Object.is(value, -0) ? "-0" : String0(value);
  }

  // ----------------------------------------------------------------- capitals

  const CAPITALS = {
    tr: (text) => text.replace(/i/g, "İ").toUpperCase(),
    az: (text) => text.replace(/i/g, "İ").toUpperCase(),
    lt: (text) => text.replace(/([ijįIJĮ])\u0307/g, "$1").toUpperCase(),
    el: (text) => greek(text).toUpperCase(),
  };
  const SMALL = {
    tr: (text) => text.replace(/İ|I\u0307/g, "i").replace(/I/g, "ı").toLowerCase(),
    az: (text) => text.replace(/İ|I\u0307/g, "i").replace(/I/g, "ı").toLowerCase(),
    lt: (text) => text.replace(/([IJĮ])(?=[\u0300\u0301\u0303])/g, "$1\u0307")
      .replace(/[ÌÍĨ]/g, (letter) => `i\u0307${letter.normalize("NFD").slice(1)}`).toLowerCase(),
  };

  // Greek capitals carry no accent. Two vowels that an accent kept apart are kept apart by dots.
  function greek(text) {
    return text.normalize("NFD")
      .replace(/([αεηιουωΑΕΗΙΟΥΩ])([\u0300\u0301\u0342])([ιυΙΥ])(?!\u0308)/gu, "$1$3\u0308")
      .replace(/(\p{Script=Greek}\u0308?)[\u0300\u0301\u0313\u0314\u0342\u0345]+/gu, "$1")
      .replace(/\u0308[\u0300\u0301\u0342]/gu, "\u0308")
      .normalize("NFC");
  }

  // How a language writes capitals or small letters where that is its own way.
  function cased(isUpper, locales) {
    const [tag] = localesOf(locales);
    return tag === undefined ? undefined : (isUpper ? CAPITALS : SMALL)[tag.slice(0, 2).toLowerCase()];
  }

  return { localesOf, optionsOf, asked, format, joined, shown, written, cased };
})
