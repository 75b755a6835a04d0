// What the engine lacks of Intl, for American English in UTC: numbers, dates and the order of texts
// as Node writes and sorts them. Other languages, zones and options are handed on to languages.js.
(function (collation, languages) {
  "use strict";

  const { apply } = Reflect;
  const { defineProperty, getOwnPropertyDescriptor } = Object;
  const String0 = String;
  const Number0 = Number;
  const Date0 = Date;
  const RangeError0 = RangeError;
  const TypeError0 = TypeError;
  const matches = RegExp.prototype.test;

  function replace(owner, name, value) {
    const own = getOwnPropertyDescriptor(owner, name) ?? { writable: true, configurable: true };
    if (own.value) defineProperty(value, "length", { value: own.value.length, configurable: true });
    defineProperty(owner, name, { ...own, value });
  }

  const isEnglishTag = /^en(-US)?$/i;

  // Whether this file knows how: English first of all, and options it has, with values it has.
  function isOurs(locales, options, allowed) {
    const first = Array.isArray(locales) ? locales[0] : locales;
    if (first !== undefined && (typeof first !== "string" || !apply(matches, isEnglishTag, [first]))) {
      return false;
    }
    if (options === undefined) return true;
    if (options === null) throw new TypeError0("Cannot convert undefined or null to object");
    for (const name of Object.keys(Object(options))) {
      const value = options[name];
      if (value === undefined) continue;
      const values = allowed[name];
      if (values === undefined || (values.length > 0 && !values.includes(value))) return false;
    }
    return true;
  }

  function known(options, allowed) {
    const made = {};
    if (options === undefined) return made;
    for (const name of Object.keys(Object(options))) {
      if (allowed[name] !== undefined && options[name] !== undefined) made[name] = options[name];
    }
    return made;
  }

  // ------------------------------------------------------------------ numbers

  const SIGNS = {
    USD: "$", EUR: "€", GBP: "£", JPY: "¥", INR: "₹", MXN: "MX$", CAD: "CA$", AUD: "A$", NZD: "NZ$",
    CNY: "CN¥", KRW: "₩", BRL: "R$", HKD: "HK$", TWD: "NT$", ILS: "₪", VND: "₫", PHP: "₱",
  };
  const PLACES = {
    JPY: 0, KRW: 0, VND: 0, CLP: 0, ISK: 0, PYG: 0, UGX: 0, XAF: 0, XOF: 0,
    KWD: 3, BHD: 3, OMR: 3, TND: 3, JOD: 3, IQD: 0,
  };
  const NUMBER_OPTIONS = {
    style: ["decimal", "currency", "percent"], currency: [], currencyDisplay: ["symbol", "code"],
    minimumFractionDigits: [], maximumFractionDigits: [], minimumIntegerDigits: [],
    minimumSignificantDigits: [], maximumSignificantDigits: [],
    useGrouping: [true, false, "auto", "always"],
    signDisplay: ["auto", "always", "never", "exceptZero"], currencySign: ["standard", "accounting"],
    notation: ["standard"], localeMatcher: [], numberingSystem: ["latn"],
  };

  function count(value, name, low, high) {
    const number = Math.floor(Number0(value));
    if (!(number >= low && number <= high)) throw new RangeError0(`${name} value is out of range.`);
    return number;
  }

  function numberFormat(given) {
    const options = known(given, NUMBER_OPTIONS);
    const style = options.style ?? "decimal";
    let currency;
    if (style === "currency") {
      if (options.currency === undefined) {
        throw new TypeError0("Currency code is required with currency style.");
      }
      currency = String0(options.currency).toUpperCase();
      if (!/^[A-Z]{3}$/.test(currency)) throw new RangeError0("Invalid currency code : " + options.currency);
    }
    const places = style === "currency" ? PLACES[currency] ?? 2 : 0;
    let least = options.minimumFractionDigits;
    let most = options.maximumFractionDigits;
    least = least === undefined ? undefined : count(least, "minimumFractionDigits", 0, 100);
    most = most === undefined ? undefined : count(most, "maximumFractionDigits", 0, 100);
    if (least !== undefined && most !== undefined && least > most) {
      throw new RangeError0("maximumFractionDigits value is out of range.");
    }
    const usualMost = style === "currency" ? places : style === "percent" ? 0 : 3;
    least = least ?? Math.min(places, most ?? places);
    most = most ?? Math.max(usualMost, least);
    const significant = options.minimumSignificantDigits !== undefined
      || options.maximumSignificantDigits !== undefined;
    const fewest = significant ? count(options.minimumSignificantDigits ?? 1, "minimumSignificantDigits", 1, 100) : 0;
    const fullest = significant ? count(options.maximumSignificantDigits ?? 21, "maximumSignificantDigits", fewest, 100) : 0;
    return {
      ...options, style, currency, least, most, significant, fewest, fullest,
      whole: count(options.minimumIntegerDigits ?? 1, "minimumIntegerDigits", 1, 21),
    };
  }

  // The shortest decimal digits of a number, without exponent: what is rounded is what is printed.
  function decimal(value) {
    const [mantissa, exponent] = String0(value).split("e");
    const [whole, fraction = ""] = mantissa.split(".");
    const shift = Number0(exponent ?? 0);
    if (shift >= 0) {
      const moved = fraction.padEnd(shift, "0");
      return [whole + moved.slice(0, shift), moved.slice(shift)];
    }
    const padded = whole.padStart(1 - shift, "0");
    return [padded.slice(0, padded.length + shift), padded.slice(padded.length + shift) + fraction];
  }

  // Rounds half away from zero after `places` digits of the fraction; negative: before the point.
  function rounded(whole, fraction, places) {
    const digits = whole + fraction;
    const keep = whole.length + places;
    if (keep >= digits.length) return [whole, fraction];
    if (keep < 0) return ["0", ""];
    let kept = BigInt(digits.slice(0, keep) || "0");
    if (digits[keep] >= "5") kept += 1n;
    const text = String0(kept).padStart(keep, "0");
    if (places <= 0) return [text + "0".repeat(-places), ""];
    const padded = text.padStart(places + 1, "0");
    return [padded.slice(0, -places), padded.slice(-places)];
  }

  function digitsOf(value, format) {
    let [whole, fraction] = decimal(value);
    if (format.style === "percent") {
      fraction = fraction.padEnd(2, "0");
      whole += fraction.slice(0, 2);
      fraction = fraction.slice(2);
    }
    whole = whole.replace(/^0+(?=\d)/, "");
    let least = format.least;
    if (format.significant) {
      const leading = whole === "0" ? -/^0*/.exec(fraction)[0].length : whole.length;
      [whole, fraction] = rounded(whole, fraction, format.fullest - leading);
      least = Math.max(0, format.fewest - leading);
    } else {
      [whole, fraction] = rounded(whole, fraction, format.most);
    }
    whole = whole.replace(/^0+(?=\d)/, "").padStart(format.whole, "0");
    fraction = fraction.replace(/0+$/, "").padEnd(least, "0");
    if (format.useGrouping !== false) whole = whole.replace(/\B(?=(\d{3})+$)/g, ",");
    return fraction === "" ? whole : `${whole}.${fraction}`;
  }

  function formatNumber(value, format) {
    const isBig = typeof value === "bigint";
    const isNegative = isBig ? value < 0n : value < 0 || Object.is(value, -0);
    const size = isBig ? (isNegative ? -value : value) : Math.abs(value);
    let text;
    if (isBig || Number0.isFinite(size)) text = digitsOf(size, format);
    else text = size === Infinity ? "∞" : "NaN";
    if (format.style === "percent") text += "%";
    if (format.style === "currency") {
      const sign = format.currencyDisplay === "code" ? undefined : SIGNS[format.currency];
      text = sign === undefined ? `${format.currency}\u00a0${text}` : sign + text;
    }
    const shown = format.signDisplay ?? "auto";
    const isZero = !/[1-9∞]/.test(text);
    if (shown === "never" || (shown === "exceptZero" && isZero) || text.includes("NaN")) return text;
    if (isNegative) return format.currencySign === "accounting" && format.currency ? `(${text})` : "-" + text;
    return shown === "auto" ? text : "+" + text;
  }

  // A writer of numbers: `text` and `parts` of a value, and how the options were understood.
  const plainNumber = numberFormat(undefined);
  function numbers(locales, options) {
    if (!isOurs(locales, options, NUMBER_OPTIONS)) {
      const other = languages.format("NumberFormat", locales, options);
      const parts = (value) => other.parts(languages.written(value));
      return { ...other, parts, text: (value) => languages.joined(parts(value)) };
    }
    const format = options === undefined ? plainNumber : numberFormat(options);
    return { text: (value) => formatNumber(value, format) };
  }

  const numberOf = Number0.prototype.valueOf;
  const bigintOf = BigInt.prototype.valueOf;
  replace(Number0.prototype, "toLocaleString", {
    toLocaleString(locales, options) {
      const value = apply(numberOf, this, []);
      return numbers(locales, options).text(value);
    },
  }.toLocaleString);
  replace(BigInt.prototype, "toLocaleString", {
    toLocaleString(locales, options) {
      const value = apply(bigintOf, this, []);
      return numbers(locales, options).text(value);
    },
  }.toLocaleString);
  replace(Array.prototype, "toLocaleString", {
    toLocaleString(locales, options) {
      return this.map((item) => (item === null || item === undefined
        ? "" : String0(item.toLocaleString(locales, options)))).join(",");
    },
  }.toLocaleString);

  // -------------------------------------------------------------------- dates

  const MONTHS = ("January February March April May June July August September October November "
    + "December").split(" ");
  const DAYS = "Sunday Monday Tuesday Wednesday Thursday Friday Saturday".split(" ");
  const LENGTHS = ["numeric", "2-digit"];
  const WORDS = ["long", "short", "narrow"];
  const STYLES = ["full", "long", "medium", "short"];
  const UTC = ["UTC", "utc", "GMT", "Etc/UTC", "Etc/GMT"];
  const DATE_OPTIONS = {
    weekday: WORDS, year: LENGTHS, month: [...LENGTHS, ...WORDS], day: LENGTHS, hour: LENGTHS,
    minute: LENGTHS, second: LENGTHS, hour12: [true, false], hourCycle: ["h12", "h23", "h24"],
    timeZone: UTC, timeZoneName: ["short", "long"], dateStyle: STYLES, timeStyle: STYLES,
    localeMatcher: [], calendar: ["gregory"], numberingSystem: ["latn"],
  };
  const DATE_STYLES = {
    full: { weekday: "long", year: "numeric", month: "long", day: "numeric" },
    long: { year: "numeric", month: "long", day: "numeric" },
    medium: { year: "numeric", month: "short", day: "numeric" },
    short: { year: "2-digit", month: "numeric", day: "numeric" },
  };
  const TIME_STYLES = {
    full: { hour: "numeric", minute: "2-digit", second: "2-digit", timeZoneName: "long" },
    long: { hour: "numeric", minute: "2-digit", second: "2-digit", timeZoneName: "short" },
    medium: { hour: "numeric", minute: "2-digit", second: "2-digit" },
    short: { hour: "numeric", minute: "2-digit" },
  };
  const DATE = ["weekday", "year", "month", "day"];
  const TIME = ["hour", "minute", "second"];

  function dateFormat(given, needed, usual) {
    const options = known(given, DATE_OPTIONS);
    if (options.dateStyle || options.timeStyle) {
      for (const name of [...DATE, ...TIME, "timeZoneName"]) {
        if (options[name] !== undefined) {
          throw new TypeError0(`Can't set option ${name} when ${options.dateStyle ? "dateStyle" : "timeStyle"} is used`);
        }
      }
      const wrong = needed === "date" ? "timeStyle" : needed === "time" ? "dateStyle" : undefined;
      if (options[wrong] !== undefined) throw new TypeError0(`Invalid option : ${wrong}`);
      return {
        ...options, ...DATE_STYLES[options.dateStyle], ...TIME_STYLES[options.timeStyle],
        isLong: options.dateStyle === "full" || options.dateStyle === "long",
      };
    }
    const asked = needed === "date" ? DATE : needed === "time" ? TIME : [...DATE, ...TIME];
    if (!asked.some((name) => options[name] !== undefined)) {
      for (const name of usual === "date" ? DATE.slice(1) : usual === "time" ? TIME : [...DATE.slice(1), ...TIME]) {
        options[name] = options[name] ?? (name === "minute" || name === "second" ? "2-digit" : "numeric");
      }
    }
    return { ...options, isLong: options.month === "long" && options.day !== undefined };
  }

  const two = (number) => String0(number).padStart(2, "0");
  const padded = (number, length) => (length === "2-digit" ? two(number) : String0(number));

  function worded(name, length) {
    return length === "narrow" ? name[0] : length === "short" ? name.slice(0, 3) : name;
  }

  function datePart(date, format) {
    const { weekday, year, month, day } = format;
    const full = date.getUTCFullYear();
    const yearText = year === undefined ? "" : year === "2-digit" ? two(((full % 100) + 100) % 100) : String0(full);
    const dayText = day === undefined ? "" : padded(date.getUTCDate(), day);
    const weekdayText = weekday === undefined ? "" : worded(DAYS[date.getUTCDay()], weekday);
    if (month === undefined) {
      if (dayText && yearText) return `${yearText} (day: ${dayText})${weekdayText && " " + weekdayText}`;
      return [dayText || yearText, weekdayText].filter(Boolean).join(" ");
    }
    const isWord = WORDS.includes(month);
    const number = date.getUTCMonth();
    const monthText = isWord ? worded(MONTHS[number], month) : padded(number + 1, month);
    let text;
    if (isWord) {
      text = dayText ? `${monthText} ${dayText}` : monthText;
      if (yearText) text += (dayText ? ", " : " ") + yearText;
    } else {
      text = [monthText, dayText, yearText].filter(Boolean).join("/");
    }
    return weekdayText ? `${weekdayText}, ${text}` : text;
  }

  function timePart(date, format) {
    const { hour, minute, second, hour12, hourCycle } = format;
    const cycle = hour12 === true ? "h12" : hour12 === false ? "h24" : hourCycle ?? "h12";
    const parts = [];
    const at = date.getUTCHours();
    if (hour !== undefined) {
      const shown = cycle === "h12" ? at % 12 || 12 : cycle === "h24" ? at || 24 : at;
      parts.push(cycle !== "h12" || hour === "2-digit" ? two(shown) : String0(shown));
    }
    const isAlone = [hour, minute, second].filter((length) => length !== undefined).length === 1;
    if (minute !== undefined) parts.push(isAlone ? String0(date.getUTCMinutes()) : two(date.getUTCMinutes()));
    if (second !== undefined) parts.push(isAlone ? String0(date.getUTCSeconds()) : two(date.getUTCSeconds()));
    let text = parts.join(":");
    if (hour !== undefined && cycle === "h12") text += at < 12 ? " AM" : " PM";
    if (format.timeZoneName) {
      const name = format.timeZoneName === "long" ? "Coordinated Universal Time" : "UTC";
      text = text ? `${text} ${name}` : name;
    }
    return text;
  }

  function formatDate(date, format) {
    const one = datePart(date, format);
    const other = timePart(date, format);
    if (!one || !other) return one || other;
    const isBareWeekday = format.weekday && !format.month && !format.day && !format.year;
    return one + (isBareWeekday ? " " : format.isLong ? " at " : ", ") + other;
  }

  function dates(locales, options, needed, usual) {
    if (!isOurs(locales, options, DATE_OPTIONS)) {
      const other = languages.format("DateTimeFormat", locales, options, { needed, usual });
      // Node writes a plain space here where the data has a narrow one, but keeps that in parts.
      return { ...other, text: (at) => languages.joined(other.parts(at)).replaceAll("\u202f", " ") };
    }
    const format = dateFormat(options, needed, usual);
    return { text: (at) => formatDate(new Date0(at), format) };
  }

  const timeOf = Date0.prototype.getTime;
  for (const [name, needed, usual] of [
    ["toLocaleDateString", "date", "date"], ["toLocaleTimeString", "time", "time"],
    ["toLocaleString", "any", "all"],
  ]) {
    replace(Date0.prototype, name, {
      [name](locales, options) {
        const at = apply(timeOf, this, []);
        const format = dates(locales, options, needed, usual);
        return at === at ? format.text(at) : "Invalid Date";
      },
    }[name]);
  }

  // -------------------------------------------------------------------- order

  const noOptions = {};
  function order(locales, options) {
    if (isOurs(locales, options, collation.options)) {
      const asked = options === undefined ? noOptions : known(options, collation.options);
      return { compare: (one, other) => collation.compare(one, other, asked) };
    }
    const tags = languages.localesOf(locales);
    const asked = collation.settled(tags, languages.optionsOf("Collator", options));
    return {
      compare: (one, other) => collation.compare(one, other, asked),
      resolved: () => languages.asked("Collator", tags, languages.optionsOf("Collator", options)),
    };
  }

  replace(String0.prototype, "localeCompare", {
    localeCompare(that, locales, options) {
      if (this === undefined || this === null) throw new TypeError0("localeCompare of nothing");
      return order(locales, options).compare(`${this}`, `${that}`);
    },
  }.localeCompare);

  for (const name of ["toLocaleUpperCase", "toLocaleLowerCase"]) {
    const native = String0.prototype[name];
    replace(String0.prototype, name, {
      [name](locales) {
        if (this === undefined || this === null) throw new TypeError0(`${name} of nothing`);
        const text = `${this}`;
        const own = languages.cased(name === "toLocaleUpperCase", locales);
        return own === undefined ? apply(native, text, []) : own(text);
      },
    }[name]);
  }

  // --------------------------------------------------------------------- Intl

  // Parts and options are asked for where somebody wants to know them.
  function completed(self, made, kind, locales, given, extra, read) {
    const other = made.resolved === undefined
      ? languages.format(kind, locales, given, extra) : made;
    self.resolvedOptions = () => other.resolved();
    if (read === undefined) return;
    const parts = other === made ? made.parts : (value) => other.parts(read.written(value));
    self.formatToParts = (value) => languages.shown(parts(read(value)));
  }

  const numeric = (value) => (typeof value === "bigint" ? value : Number0(value));
  numeric.written = languages.written;

  function instant(value) {
    const at = value === undefined ? Date.now() : Number0(value);
    if (at !== at || Math.abs(at) > 8.64e15) throw new RangeError0("Invalid time value");
    return at;
  }
  instant.written = (at) => at;

  class NumberFormat {
    constructor(locales, options) {
      const made = numbers(locales, options);
      if (made.resolved !== undefined) made.resolved();  // raises what is wrong with the options
      this.format = (value) => made.text(numeric(value));
      completed(this, made, "NumberFormat", locales, options, {}, numeric);
    }
  }

  class DateTimeFormat {
    constructor(locales, options) {
      const made = dates(locales, options, "any", "date");
      if (made.resolved !== undefined) made.resolved();
      this.format = (value) => made.text(instant(value));
      completed(this, made, "DateTimeFormat", locales, options, { needed: "any", usual: "date" }, instant);
    }
  }

  class Collator {
    constructor(locales, options) {
      const made = order(locales, options);
      this.compare = (one, other) => made.compare(`${one}`, `${other}`);
      completed(this, made, "Collator", locales, options, {});
    }
  }

  class PluralRules {
    constructor(locales, options) {
      const made = languages.format("PluralRules", locales, options);
      made.resolved();
      this.select = (value) => made.parts(languages.written(Number0(value)));
      this.resolvedOptions = () => made.resolved();
    }
  }

  const MOST_ITEMS = 1000;
  function textsOf(items) {
    const texts = items === undefined ? [] : [...items];
    if (texts.length > MOST_ITEMS) {
      throw new RangeError0(`the list has ${texts.length} items; ${MOST_ITEMS} are allowed here`);
    }
    for (const text of texts) {
      if (typeof text !== "string") {
        throw new TypeError0(`Iterable yielded ${String0(text)} which is not a string`);
      }
    }
    return texts;
  }

  class ListFormat {
    constructor(locales, options) {
      const made = languages.format("ListFormat", locales, options);
      made.resolved();
      // Only how many there are is asked, and how they begin: some languages look at it.
      const parts = (items) => {
        const texts = textsOf(items);
        const starts = texts.map((text) => text.slice(0, 8));
        return made.parts(starts).map(([type, value]) => [type, type === "element" ? texts[value] : value]);
      };
      this.format = (items) => languages.joined(parts(items));
      this.formatToParts = (items) => languages.shown(parts(items));
      this.resolvedOptions = () => made.resolved();
    }
  }

  class RelativeTimeFormat {
    constructor(locales, options) {
      const made = languages.format("RelativeTimeFormat", locales, options);
      made.resolved();
      const parts = (value, unit) => {
        const number = Number0(value);
        if (number - number !== 0) throw new RangeError0("Invalid time value");
        return made.parts(languages.written(number), String0(unit).slice(0, 40));
      };
      this.format = (value, unit) => languages.joined(parts(value, unit));
      this.formatToParts = (value, unit) => languages.shown(parts(value, unit));
      this.resolvedOptions = () => made.resolved();
    }
  }

  class DisplayNames {
    constructor(locales, options) {
      if (options === undefined) throw new TypeError0("Cannot convert undefined or null to object");
      const made = languages.format("DisplayNames", locales, options);
      if (options.type === undefined) throw new TypeError0("Required option \"type\" must not be undefined");
      made.resolved();
      this.of = (code) => made.parts(String0(code).slice(0, 100)) ?? undefined;
      this.resolvedOptions = () => made.resolved();
    }
  }

  const supported = (kind) => ({
    supportedLocalesOf(locales) {
      return languages.asked("supported", languages.localesOf(locales), { kind });
    },
  }.supportedLocalesOf);

  // The older ones can be called without `new`.
  function published(maker, isCallable) {
    const { name } = maker;
    const stub = {
      [name]: function (locales, options) {
        if (new.target === undefined && !isCallable) {
          throw new TypeError0(`Constructor Intl.${name} requires 'new'`);
        }
        return new maker(locales, options);
      },
    }[name];
    stub.prototype = maker.prototype;
    stub.supportedLocalesOf = supported(name);
    defineProperty(maker.prototype, "constructor", { value: stub });
    return stub;
  }

  globalThis.Intl = {
    NumberFormat: published(NumberFormat, true),
    DateTimeFormat: published(DateTimeFormat, true),
    Collator: published(Collator, true),
    PluralRules: published(PluralRules),
    ListFormat: published(ListFormat),
    RelativeTimeFormat: published(RelativeTimeFormat),
    DisplayNames: published(DisplayNames),
    getCanonicalLocales(locales) {
      return languages.asked("canonical", languages.localesOf(locales), {});
    },
  };
})
