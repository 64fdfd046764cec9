import concurrent.futures as cf
from openai import OpenAI
client = OpenAI(base_url="http://gpu07:30000/v1", api_key="none")

def one(prompt):
    return client.chat.completions.create(model="m", messages=[{"role": "user", "content": prompt}], max_tokens=512)

prompts = [line for line in open("prompts.txt")][:256]
with cf.ThreadPoolExecutor(max_workers=8) as pool:
    answers = list(pool.map(one, prompts))
