// The page's own script: the slider, the editor's names and marks, dropped receipts. All works without it but less
// smoothly: it makes no decision, and puts no text into the page as HTML.
"use strict";
(() => {
  const KEYWORDS = ["SELECT", "FROM", "WHERE", "GROUP BY", "HAVING", "ORDER BY", "LIMIT", "AND", "OR", "NOT", "IN", "BETWEEN",
    "LIKE", "IS NULL", "AS", "CASE WHEN", "THEN", "ELSE", "END", "COUNT(*)", "COUNT(DISTINCT ", "SUM(", "AVG(", "MEDIAN(",
    "QUANTILE(", "STDDEV_SAMP(", "VAR_SAMP(", "CORR(", "CLIP(", "COALESCE(", "ROUND(", "DATE '", "FILTER (WHERE ", "ROLLUP("];
  const MOST = 8;
  const one = (selector, within = document) => within.querySelector(selector);
  document.documentElement.classList.add("scripted");

  function told(words) {
    const box = one("#trouble");
    box.textContent = words;
    box.hidden = !words;
  }

  // The editor: a copy of its text lies behind it, where a mark can be drawn and the caret's place measured.
  const editor = one("#sql"), copy = one(".editor .marks"), list = one("#names");
  let asked = "", wrong = null, chosen = -1, choices = [], words = [];

  function drawn(place, name) {
    copy.replaceChildren();
    const text = editor.value + "\n";
    if (!place) { copy.append(text); return null; }
    const mark = document.createElement(name);
    mark.textContent = text.slice(place[0], place[1]);
    copy.append(text.slice(0, place[0]), mark, text.slice(place[1]));
    return mark;
  }

  function marked() { drawn(wrong, "mark"); copy.scrollTop = editor.scrollTop; }

  function closed() { list.hidden = true; chosen = -1; choices = []; editor.removeAttribute("aria-activedescendant"); }

  function begun() {
    const found = /["']?\w*$/.exec(editor.value.slice(0, editor.selectionStart));
    return found ? found[0] : "";
  }

  function offered() {
    const word = begun(), low = word.toLowerCase().replace(/^["']/, "");
    const after = editor.value[editor.selectionStart] || "";
    if (!word || editor.selectionStart !== editor.selectionEnd || /\w/.test(after)) { closed(); return; }
    const quoted = /^["']/.test(word) ? word[0] : "";
    const fits = (name) => {
      const plain = name.toLowerCase().replace(/^["']/, "");
      return plain.startsWith(low) && (quoted ? name[0] === quoted : name[0] !== "'" || low.length > 1) && name !== word;
    };
    choices = words.filter(fits).concat(low.length > 1 ? KEYWORDS.filter((key) => fits(key) && key !== word.toUpperCase()) : []);
    choices = choices.slice(0, MOST);
    if (!choices.length) { closed(); return; }
    chosen = -1;
    list.replaceChildren(...choices.map((name, number) => {
      const item = document.createElement("li");
      item.id = "name-" + number;
      item.setAttribute("role", "option");
      item.setAttribute("aria-selected", "false");
      item.textContent = name.trim();
      item.addEventListener("mousedown", (event) => { event.preventDefault(); taken(number); });
      return item;
    }));
    const at = editor.selectionStart - word.length;
    const caret = drawn([at, at + word.length], "span");
    list.hidden = false;
    list.style.left = Math.min(caret.offsetLeft, Math.max(0, copy.clientWidth - 180)) + "px";
    list.style.top = caret.offsetTop + caret.offsetHeight - editor.scrollTop + 4 + "px";
    marked();
  }

  function pointed(step) {
    const items = [...list.children];
    if (chosen >= 0) items[chosen].setAttribute("aria-selected", "false");
    chosen = (chosen + step + items.length + (chosen < 0 && step < 0 ? 1 : 0)) % items.length;
    items[chosen].setAttribute("aria-selected", "true");
    items[chosen].scrollIntoView({ block: "nearest" });
    editor.setAttribute("aria-activedescendant", items[chosen].id);
  }

  function changed() {
    wrong = null;
    marked();
    editor.dispatchEvent(new Event("input", { bubbles: true }));
  }

  function taken(number) {
    const name = choices[number], end = editor.selectionStart;
    closed();
    editor.setRangeText(name, end - begun().length, end, "end");
    changed();
    closed();
  }

  if (editor) {
    words = JSON.parse(editor.dataset.names);
    editor.addEventListener("input", () => { wrong = null; repriced(); marked(); offered(); });
    editor.addEventListener("scroll", () => { copy.scrollTop = editor.scrollTop; });
    editor.addEventListener("blur", closed);
    editor.addEventListener("click", closed);
    editor.addEventListener("keydown", (event) => {
      if (list.hidden) return;
      if (event.key === "ArrowDown" || event.key === "ArrowUp") { event.preventDefault(); pointed(event.key === "ArrowDown" ? 1 : -1); }
      else if ((event.key === "Enter" || event.key === "Tab") && chosen >= 0) { event.preventDefault(); taken(chosen); }
      else if (event.key === "Escape") { event.preventDefault(); closed(); }
      else if (event.key === "ArrowLeft" || event.key === "ArrowRight") closed();
    });
    marked();
    pointedOut();
  }

  function pointedOut() {
    const box = one("#offer [data-start], #answer [data-start]");
    wrong = box ? [Number(box.dataset.start), Number(box.dataset.end)] : null;
    if (editor) marked();
  }

  // What the question as it stands costs at the chosen price, less what was paid before; "" where that is not told yet.
  function quoted() {
    const told = one(".rehearsed"), row = one(".offer input[name=spend]:checked"), amount = one(".offer input[name=amount]");
    if (!told || !amount || told.dataset.question !== editor.value) return "";
    return told.dataset.chosen === (amount.value.trim() || (row ? row.value : "")) ? told.dataset.costs : "";
  }

  // The price: a slider beside the rows of the menu. What is sent is the row.
  function priced() {
    const fieldset = one(".offer");
    if (!fieldset) return;
    const rows = [...fieldset.querySelectorAll("input[name=spend]")], slider = one("input[type=range]", fieldset);
    const at = rows.findIndex((row) => row.checked), amount = one("input[name=amount]", fieldset).value.trim();
    const pay = one("[data-pay]");
    if (rows.some((row) => !row.disabled)) slider.parentElement.hidden = false;
    slider.max = String(Math.max(0, rows.filter((row) => !row.disabled).length - 1));
    if (at >= 0) slider.value = String(at);
    const cells = at < 0 ? [] : [...rows[at].closest("tr").cells].map((cell) => cell.textContent.trim());
    slider.setAttribute("aria-valuetext", cells.join(", "));
    const costs = quoted() || amount || (at < 0 ? "" : rows[at].dataset.amount);
    if (pay) pay.textContent = costs === "0" ? "Ask: this is free" : "Ask, and pay " + pay.dataset.pay + " " + costs;
  }

  function repriced() {  // what is told of another price is of that one
    const reason = one(".why");
    if (reason) reason.open = false;
    priced();
  }

  document.addEventListener("input", (event) => {
    if (event.target.matches(".offer input[type=range]")) {
      const rows = event.target.closest(".offer").querySelectorAll("input[name=spend]:not(:disabled)");
      rows[Number(event.target.value)].checked = true;
    }
    if (event.target.closest(".offer")) repriced();
  });
  document.addEventListener("change", (event) => { if (event.target.closest(".offer")) repriced(); });
  document.addEventListener("keydown", (event) => {  // a price that was typed is looked at, and not paid
    if (event.key === "Enter" && event.target.matches(".offer input")) {
      event.preventDefault();
      event.target.dispatchEvent(new Event("change", { bubbles: true }));
    }
  });

  // Buttons that put text somewhere.
  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-put], [data-insert], [data-copy]");
    if (!button) return;
    if (button.dataset.copy !== undefined) {
      navigator.clipboard.writeText(button.dataset.copy).then(() => { button.textContent = "Copied"; }, () => told("This browser does not copy."));
      return;
    }
    if (button.dataset.put !== undefined) editor.value = button.dataset.put;
    else editor.setRangeText(button.dataset.insert, editor.selectionStart, editor.selectionEnd, "end");
    editor.focus();
    changed();
    closed();
  });
  document.addEventListener("submit", (event) => {
    const sure = event.submitter && event.submitter.dataset.sure;
    if (sure && !window.confirm(sure)) { event.preventDefault(); return; }
    if (event.target.dataset.busy) {
      const button = one("button", event.target);
      button.disabled = true;
      button.textContent = event.target.dataset.busy;
    }
  });

  // A receipt that was chosen or dropped.
  const drop = one("[data-drop]");
  if (drop) {
    const text = one("#" + drop.dataset.drop);
    const read = (file) => {
      if (!file) return;
      if (file.size > 900000) { told("This file is too large to be sent. Check it at home with dpcurator verify."); return; }
      file.text().then((content) => { text.value = content; htmx.trigger(text.form, "submit"); });
    };
    one("input[type=file]", drop).addEventListener("change", (event) => read(event.target.files[0]));
    drop.addEventListener("dragover", (event) => { event.preventDefault(); drop.classList.add("over"); });
    drop.addEventListener("dragleave", () => drop.classList.remove("over"));
    drop.addEventListener("drop", (event) => { event.preventDefault(); drop.classList.remove("over"); read(event.dataTransfer.files[0]); });
  }

  // Requests.
  document.addEventListener("htmx:confirm", (event) => {
    if (event.detail.elt.id !== "ask") return;
    const row = one(".offer input[name=spend]:checked"), amount = one(".offer input[name=amount]");
    const part = row && quoted() !== "0" && !(amount && amount.value.trim()) ? parseFloat(row.value) : 0;
    if (part >= 20 && !window.confirm(`This spends ${row.value} of all there is, for good. Ask?`)) event.preventDefault();
  });
  document.addEventListener("htmx:beforeRequest", (event) => {
    told("");
    if (event.detail.elt.matches("details:not([open])")) { event.preventDefault(); return; }  // it was closed
    if (event.detail.elt.id !== "ask") return;
    asked = editor.value;
    for (const button of document.querySelectorAll("#ask .primary")) button.disabled = true;
  });
  document.addEventListener("htmx:afterRequest", (event) => {
    if (event.detail.elt.id === "ask" && event.detail.successful) {  // the same again is free
      if (one("#answer .answer") && editor.value === asked && quoted()) { one(".rehearsed").dataset.costs = "0"; priced(); }
    }
    if (event.detail.elt.id === "ask") for (const button of document.querySelectorAll("#ask .primary")) button.disabled = false;
  });
  document.addEventListener("htmx:afterSwap", () => { priced(); pointedOut(); });
  document.addEventListener("htmx:sendError", () => told("The server gives no reply. What was paid is not paid twice: try again."));
  document.addEventListener("htmx:responseError", (event) => {
    let words = "This was not taken.";
    try { words = JSON.parse(event.detail.xhr.responseText).detail; } catch { /* a proxy's own page */ }
    told(words);
  });
  priced();
})();
