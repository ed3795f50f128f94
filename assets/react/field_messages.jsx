/* Messages at the fields of every form, instead of the browser's bubbles. Without this script the bubbles remain. */
import { useEffect } from "react";

const KINDS = { email: "Enter an email address such as ana@firm.example", url: "Enter an address such as https://firm.example" };

function words(field) {
  const { valueMissing, typeMismatch, tooShort, tooLong, rangeUnderflow, rangeOverflow, badInput } = field.validity;
  if (valueMissing) return field.tagName === "SELECT" ? "Choose one" : field.type === "file" ? "Choose a file" : "Required";
  if (typeMismatch) return KINDS[field.type] ?? field.validationMessage;
  if (tooShort) return `Enter at least ${field.minLength} characters`;
  if (tooLong) return `Enter at most ${field.maxLength} characters`;
  if (rangeUnderflow) return `Enter ${field.min} or more`;
  if (rangeOverflow) return `Enter ${field.max} or less`;
  if (badInput && field.type === "number") return "Enter a number";
  return field.title || field.validationMessage;
}

/* The message is the field's last element and is removed as soon as the value is valid: React does not know it. */
function clear(field) {
  const shown = document.getElementById(field.dataset.message ?? "");
  if (!shown) return;
  shown.remove();
  delete field.dataset.message;
  field.removeAttribute("aria-invalid");
  const rest = (field.getAttribute("aria-describedby") ?? "").split(" ").filter((id) => id && id !== shown.id).join(" ");
  rest ? field.setAttribute("aria-describedby", rest) : field.removeAttribute("aria-describedby");
}

let count = 0;
function show(field) {
  clear(field);
  const message = document.createElement("div");
  message.id = `message-${++count}`;
  message.className = "error";
  message.setAttribute("role", "alert");
  message.textContent = words(field);
  (field.closest(".field") ?? field.parentElement).append(message);
  field.dataset.message = message.id;
  field.setAttribute("aria-invalid", "true");
  const told = field.getAttribute("aria-describedby");
  field.setAttribute("aria-describedby", [message.id, told].filter(Boolean).join(" "));
}

export function FieldMessages() {
  useEffect(() => {
    let first = true;
    const invalid = (event) => {
      event.preventDefault();
      show(event.target);
      if (first) event.target.focus();
      first = false;
      setTimeout(() => (first = true));
    };
    const changed = ({ target }) => {
      if (target.dataset?.message && target.validity?.valid) clear(target);
    };
    /* Captured: these events of a field do not bubble, or a handler of the page could stop them. */
    document.addEventListener("invalid", invalid, true);
    document.addEventListener("input", changed, true);
    document.addEventListener("change", changed, true);
    return () => {
      document.removeEventListener("invalid", invalid, true);
      document.removeEventListener("input", changed, true);
      document.removeEventListener("change", changed, true);
    };
  }, []);
  return null;
}
