#!/usr/bin/env python3
# ===- browser.py - The page of attune explore in a browser ----------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Opens the page of `attune explore` in Chromium without a screen and uses it as a reader does.

usage: browser.py PAGE [--hostile] [--screenshots=DIR]

The browser is driven by the Chrome DevTools protocol over two pipes. --hostile checks a page of a model whose folder has
the name of an HTML element, and does nothing else. Prints what it saw; ends with 1 at the first surprise.
"""
import base64
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time


class Browser:
    def __init__(self, arguments=()):
        program = shutil.which("chromium") or shutil.which("chromium-browser")
        self.folder = tempfile.mkdtemp()
        theirs, self.output = os.pipe()
        self.input, answers = os.pipe()

        def connect():
            # The protocol's pipes are descriptors 3 and 4.
            os.dup2(theirs, 13)
            os.dup2(answers, 14)
            os.dup2(13, 3)
            os.dup2(14, 4)

        self.process = subprocess.Popen(
            [program, "--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe", "--window-size=1200,800",
             "--user-data-dir=" + self.folder, *arguments, "about:blank"],
            preexec_fn=connect, close_fds=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(theirs)
        os.close(answers)
        self.session, self.calls, self.rest, self.events = None, 0, b"", []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(domain + ".enable")

    def call(self, method, **parameters):
        self.calls += 1
        message = {"id": self.calls, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.output, json.dumps(message).encode() + b"\0")
        while True:
            while b"\0" not in self.rest:
                part = os.read(self.input, 1 << 20)
                if not part:
                    sys.exit("the browser ended")
                self.rest += part
            text, self.rest = self.rest.split(b"\0", 1)
            answer = json.loads(text)
            if answer.get("id") == self.calls:
                if "error" in answer:
                    sys.exit(f"{method}: {answer['error']}")
                return answer["result"]
            self.events.append(answer)

    def evaluate(self, code):
        answer = self.call("Runtime.evaluate", expression=code, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in answer:
            sys.exit(f"{code}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def wait(self, code, seconds=60):
        end = time.time() + seconds
        while not self.evaluate(code):
            if time.time() > end:
                sys.exit(f"never true: {code}")
            time.sleep(0.05)

    def click(self, selector, index=0):
        """Clicks into the middle of an element with the mouse, after the page has drawn what scrolling changes."""
        element = f"document.querySelectorAll({json.dumps(selector)})[{index}]"
        self.wait(f"!!{element}")
        self.evaluate(f"{element}.scrollIntoView({{block: 'center'}})")
        self.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done())))")
        box = self.evaluate(f"(b => [b.left + b.width / 2, b.top + b.height / 2])({element}.getBoundingClientRect())")
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=box[0], y=box[1], button="left", clickCount=1)

    def key(self, key, text=None):
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, **({"text": text} if text else {}))
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key)

    def open(self, page, view=""):
        place = os.path.abspath(page).replace("<", "%3C").replace(">", "%3E").replace(" ", "%20")
        self.call("Page.navigate", url="file://" + place + ("#view=" + view if view else ""))
        self.wait("!!document.body && !!document.body.dataset.shown")

    def screenshot(self, path):
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.call("Page.captureScreenshot")["data"]))

    def check_events(self):
        """The page has no errors and asked for no other file."""
        for event in self.events:
            if event["method"] in ("Runtime.exceptionThrown", "Log.entryAdded"):
                sys.exit(f"the page has an error: {event['params']}")
            if event["method"] == "Network.requestWillBeSent":
                url = event["params"]["request"]["url"]
                if not url.startswith(("file://", "about:")) or url.count("file://") and not url.split("#")[0].endswith(".html"):
                    sys.exit(f"the page asked for {url}")

    def close(self):
        os.write(self.output, json.dumps({"id": 0, "method": "Browser.close"}).encode() + b"\0")
        self.process.wait(30)
        shutil.rmtree(self.folder, ignore_errors=True)


def view(browser, name, number):
    browser.key(str(number), str(number))
    browser.wait(f"document.body.dataset.shown === '{name}'")


def main():
    page = sys.argv[1]
    shots = next((a.split("=", 1)[1] for a in sys.argv if a.startswith("--screenshots=")), None)
    browser = Browser()
    browser.open(page)
    if "--hostile" in sys.argv:
        print("title:", browser.evaluate("document.getElementById('title').textContent"))
        print("elements from names:", browser.evaluate("document.querySelectorAll('img, b').length"))
        print("attacked:", browser.evaluate("String(window.attacked)"))
        return browser.close()
    numbers = [0, 7, 100, 120, 250, 1.5, 99.96, 999.9, 1234.5, 0.0001, 2.5e-7, None]
    print("numbers:", browser.evaluate(f"{json.dumps(numbers)}.map(value => number(value)).join(' ')"))
    print("sizes:", browser.evaluate("[0, 500, 1000, 102400, 1536].map(size).join(', ')"))

    paint = "performance.getEntriesByName('first-contentful-paint')"
    browser.wait(paint + ".length === 1")
    paint = browser.evaluate(paint + "[0].startTime")
    print(f"first paint after {paint:.0f} ms")

    # From a layer to its kernels, to assembly, to the module of the model.
    browser.click("#modules .item[data-path='encoder.layer.1.attention']")
    browser.wait("document.querySelector('#module h2').textContent === 'encoder.layer.1.attention'")
    print("operations:", browser.evaluate("document.querySelector('#module table tbody td').textContent"))
    kernel = browser.evaluate("document.querySelector('.kernel-table tbody td').textContent")
    print("kernel:", kernel)
    if shots:
        browser.screenshot(os.path.join(shots, "model.png"))
    browser.click(".kernel-table tbody tr")
    browser.wait("!!document.querySelector('#kernel')")
    print("remarks:", browser.evaluate("[...document.querySelectorAll('#kernel .missed, #kernel .passed')].length > 3"))
    marks = browser.evaluate("document.querySelectorAll('#roofline circle').length")
    print("kernels on the roofline:", marks > 3)
    labels = browser.evaluate("[...document.querySelectorAll('#roofline text')].map(t => t.textContent)")
    print("roofline:", next(label for label in labels if "peak" in label))
    if shots:
        browser.screenshot(os.path.join(shots, "kernels.png"))
    browser.click("#to-assembly")
    browser.wait("document.body.dataset.shown === 'assembly' && !!document.querySelector('#assembly .row.chosen')")
    print("assembly of the kernel:", browser.evaluate("document.querySelector('#assembly .row').textContent").startswith(kernel))
    print("elements of lines:", browser.evaluate("document.querySelectorAll('.row').length < 300"))
    browser.click("#source .row", 12)
    browser.wait("document.querySelectorAll('#source .row')[12].classList.contains('chosen')")
    browser.click("#assembly .row", 20)
    browser.wait("!!document.querySelector('#provenance button')")
    print("module of an instruction:", browser.evaluate("document.querySelector('#provenance button').textContent"))
    if shots:
        browser.screenshot(os.path.join(shots, "assembly.png"))
    browser.click("#provenance button")
    browser.wait("document.body.dataset.shown === 'model'")
    print("back at:", browser.evaluate("document.querySelector('#module h2').textContent"))

    # A pass, by the keyboard.
    browser.evaluate("location.hash = 'view=ir'")
    browser.wait("document.body.dataset.shown === 'ir' && document.querySelectorAll('#passes .item').length > 20")
    browser.key("ArrowDown")
    browser.key("j", "j")
    browser.key("Enter")
    browser.wait("document.querySelectorAll('.row.added').length > 0")
    print("passes:", browser.evaluate("document.querySelectorAll('#passes .item').length > 20"))
    if shots:
        browser.screenshot(os.path.join(shots, "ir.png"))

    # The other views, by numbers.
    view(browser, "memory", 5)
    print("buffers:", browser.evaluate("document.querySelectorAll('#memory rect').length > 5"))
    if shots:
        browser.screenshot(os.path.join(shots, "memory.png"))
    view(browser, "weights", 6)
    print("weights:", browser.evaluate("document.querySelectorAll('tbody tr').length > 10"))
    view(browser, "remarks", 7)
    view(browser, "time", 8)
    print("passes with times:", browser.evaluate("document.querySelectorAll('tbody tr').length > 20"))
    view(browser, "attention", 9)
    browser.click("#attention-map")
    print("attention:", browser.evaluate("document.getElementById('attention-note').textContent"))
    if shots:
        browser.screenshot(os.path.join(shots, "attention.png"))
    browser.key("/", "/")
    print("filter has the keyboard:", browser.evaluate("document.activeElement.id === 'search'"))

    # Dark, if the reader's system is.
    light = browser.evaluate("getComputedStyle(document.body).backgroundColor")
    browser.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark"}])
    print("dark differs:", light != browser.evaluate("getComputedStyle(document.body).backgroundColor"))

    # The address of a view opens it, although its data are at the end of the page.
    browser.call("Page.navigate", url="about:blank")
    browser.open(page, "attention")
    print("opened at:", browser.evaluate("document.body.dataset.shown"))
    browser.check_events()
    print("no errors, no requests")
    browser.close()


main()
