{-# LANGUAGE OverloadedStrings #-}
-- | The page of the suite bigtable by happstack-server with blaze-html: PORT.
module Main (main) where

import Control.Monad (forM_, replicateM_)
import Happstack.Server (Conf (logAccess, port), bindIPv4, nullConf, ok, simpleHTTPWithSocket, toResponse)
import System.Environment (getArgs)
import Text.Blaze.Html (Html, toHtml)
import qualified Text.Blaze.Html5 as H

main :: IO ()
main = do
    [number] <- getArgs
    let conf = nullConf {port = read number, logAccess = Nothing}
    socket <- bindIPv4 "127.0.0.1" (port conf)
    simpleHTTPWithSocket socket conf (ok (toResponse (page 50)))

page :: Int -> Html
page columns = H.table (replicateM_ 1000 (row columns))

row :: Int -> Html
row columns = H.tr (forM_ [1 .. columns] (H.td . toHtml))
