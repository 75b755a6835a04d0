// One line in, one line out: an expression with its variables, and what Node makes of it.
"use strict";

const readline = require("node:readline");

function read(value) {
  const [kind, content] = value;
  switch (kind) {
    case "undefined": return undefined;
    case "null": return null;
    case "number": return Number(content);
    case "bigint": return BigInt(content);
    case "date": return new Date(Number(content));
    case "list": return content.map(read);
    case "object": {
      const made = {};
      for (const [key, item] of content) {
        Object.defineProperty(made, key, {
          value: read(item), writable: true, enumerable: true, configurable: true,
        });
      }
      return made;
    }
    default: return content;
  }
}

function write(value) {
  switch (typeof value) {
    case "undefined": return ["undefined"];
    case "number": return ["number", Object.is(value, -0) ? "-0" : String(value)];
    case "bigint": return ["bigint", String(value)];
    case "string": return ["text", value];
    case "boolean": return ["boolean", value];
    case "object": break;
    default: return ["foreign", typeof value];
  }
  if (value === null) return ["null"];
  if (Array.isArray(value)) return ["list", Array.from(value, write)];
  const kind = Object.prototype.toString.call(value).slice(8, -1);
  if (kind === "Date") return ["date", String(value.getTime())];
  if (["Map", "Set", "RegExp", "Error", "Promise"].includes(kind)) {
    return ["foreign", kind.toLowerCase()];
  }
  return ["object", Object.entries(value).map(([key, item]) => [key, write(item)])];
}

// The name of the maker of what was thrown; what has none, or hides it, is some object.
function kindOf(error) {
  if (error === null || error === undefined) return String(error);
  const maker = error.constructor;
  return typeof maker === "function" ? String(maker.name) : "Object";
}

function answer({ source, values }) {
  try {
    const names = Object.keys(values);
    const made = new Function(...names, `"use strict"; return (${source}\n)`);
    return write(made(...names.map((name) => read(values[name]))));
  } catch (error) {
    return ["raised", kindOf(error)];
  }
}

readline.createInterface({ input: process.stdin }).on("line", (line) => {
  process.stdout.write(`${JSON.stringify(answer(JSON.parse(line)))}\n`);
});
