"""Friday 18:40: a hotel system that is slow and fails, then is out for a minute. How many calls reach it, and when?"""
